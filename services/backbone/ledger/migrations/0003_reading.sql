-- For people who look: the newest deliveries page by page, and those that are open, oldest first.
CREATE INDEX deliveries_newest ON deliveries (created_at DESC, delivery_id);
CREATE INDEX deliveries_open ON deliveries (created_at, delivery_id)
  WHERE state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED');
