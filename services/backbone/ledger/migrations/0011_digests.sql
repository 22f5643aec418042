-- What a digest tells, looked up while it is on its way: it waits only for what holds back all of it.
CREATE INDEX deliveries_told_by ON deliveries (digest_id) WHERE digest_id IS NOT NULL;
