-- What time and circumstances do to deliveries: who was meant to be told, what a row waits for,
-- and every decision after intake.
ALTER TABLE alerts
  ADD COLUMN decision jsonb NOT NULL DEFAULT '{}',  -- routes considered and each recipient's verdict, at intake
  ADD COLUMN inhibits text[],                       -- keys by which it mutes other alerts; null for most
  ADD COLUMN acknowledged_at timestamptz;           -- somebody has it in hand: nothing suppressed is sent later
ALTER TABLE alerts ALTER COLUMN accepted_at SET DEFAULT ledger_now();
CREATE INDEX alerts_inhibiting ON alerts (accepted_at) WHERE inhibits IS NOT NULL;

ALTER TABLE deliveries
  ADD COLUMN plan jsonb NOT NULL DEFAULT '{}',      -- route, template, fallback, quiet, grouping as of intake
  ADD COLUMN suppressed_by text,                    -- the rule that it waits for, as kind:name
  ADD COLUMN not_before timestamptz,                -- while suppressed: what a failed try asked to wait for
  ADD COLUMN group_key text,                        -- members of one digest to be
  ADD COLUMN group_limit integer,
  ADD COLUMN digest_id text;                        -- the delivery that told this one's alert
ALTER TABLE deliveries
  ALTER COLUMN next_attempt_at SET DEFAULT ledger_now(),
  ALTER COLUMN created_at SET DEFAULT ledger_now(),
  ALTER COLUMN updated_at SET DEFAULT ledger_now();

-- SUPPRESSED rows wait for this time; a digest's members for the first of them.
CREATE INDEX deliveries_suppressed ON deliveries (next_attempt_at, delivery_id)
  WHERE state = 'SUPPRESSED' AND group_key IS NULL;
CREATE INDEX deliveries_suppressed_by ON deliveries (suppressed_by, delivery_id)
  WHERE state = 'SUPPRESSED';
CREATE INDEX deliveries_grouped ON deliveries (group_key, next_attempt_at) INCLUDE (group_limit)
  WHERE state = 'SUPPRESSED' AND group_key IS NOT NULL;
-- What waits, or was told in a digest, is not in the outbox.
DROP INDEX deliveries_unpublished;
CREATE INDEX deliveries_outbox ON deliveries (delivery_id)
  WHERE published_at IS NULL AND state NOT IN ('SUPPRESSED', 'CLOSED');

-- People's word that some alerts are not to be sent for a while; a row is never deleted.
CREATE TABLE silences (
  silence_id  text PRIMARY KEY,
  match       jsonb NOT NULL,
  starts_at   timestamptz NOT NULL,
  ends_at     timestamptz NOT NULL CHECK (ends_at > starts_at),
  author      text NOT NULL,
  reason      text NOT NULL,
  source      text NOT NULL,                        -- by which door it came
  created_at  timestamptz NOT NULL DEFAULT ledger_now(),
  ended_at    timestamptz,                          -- ended before its time
  ended_by    text
);
CREATE INDEX silences_ends ON silences (ends_at);

-- Every decision about a delivery after intake; only added to.
CREATE TABLE decisions (
  decision_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  alert_id     text NOT NULL REFERENCES alerts ON DELETE CASCADE,
  delivery_id  text,                                -- null: about the whole alert
  at           timestamptz NOT NULL DEFAULT ledger_now(),
  stage        text NOT NULL,                       -- who decided: release, sweep, digest, escalation, …
  decided      text NOT NULL,
  why          text NOT NULL
);
CREATE INDEX decisions_by_alert ON decisions (alert_id, decision_id);
