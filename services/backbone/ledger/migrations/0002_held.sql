-- What waits for a person is counted and listed often, among many rows that are done.
CREATE INDEX deliveries_held ON deliveries (channel, updated_at) WHERE state = 'HELD';
