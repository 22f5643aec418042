-- A claim costs the same however many deliveries wait, and whatever was claimed before.

-- Alert ids lead the unique index too.
DROP INDEX deliveries_by_alert;

-- Without the id as a second column, which had Postgres walk them to look up a row by its id when
-- it had made its plan on an empty table. Rows of one moment are few: they are sorted when read.
DROP INDEX deliveries_newest;
CREATE INDEX deliveries_newest ON deliveries (created_at DESC);
DROP INDEX deliveries_open;
CREATE INDEX deliveries_open ON deliveries (created_at)
  WHERE state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED');

-- Deliveries to some recipients only: those whose destination works, or the one to be probed.
CREATE INDEX deliveries_due_to ON deliveries (channel, recipient, next_attempt_at)
  WHERE state IN ('PENDING', 'RETRY_WAIT');
-- What is too old is found without looking at what is not.
CREATE INDEX deliveries_ages ON deliveries (channel, least(created_at, alerted_at))
  WHERE state IN ('PENDING', 'RETRY_WAIT');

-- Each row is written at intake, claim and outcome: its next version finds room beside it, and
-- what is left of it is cleared away before it adds up.
ALTER TABLE deliveries SET (fillfactor = 75,
  autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_analyze_threshold = 2000, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE attempts SET (fillfactor = 75,
  autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE untold_moves SET (
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.0);
