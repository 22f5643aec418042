-- What the accountant has found wrong; open until it is right again, raised once.
CREATE TABLE findings (
  finding_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind        text NOT NULL,
  subject     text NOT NULL,                   -- what it is about: an alert, a delivery, a channel
  channel     text NOT NULL DEFAULT '',        -- the channel in trouble, if it is one
  detail      text NOT NULL,
  found_at    timestamptz NOT NULL DEFAULT ledger_now(),
  raised_at   timestamptz,
  raised_by   text,                            -- the accountant's own alert
  ended_at    timestamptz
);
CREATE UNIQUE INDEX findings_open ON findings (kind, subject) WHERE ended_at IS NULL;
CREATE INDEX findings_raised ON findings (kind, raised_at) WHERE raised_at IS NOT NULL;

-- Keys of topic alerts.rejected: alert ids, or places of records that could not be read.
CREATE TABLE set_aside (
  key  text PRIMARY KEY,
  at   timestamptz NOT NULL DEFAULT ledger_now()
);
