-- Who has taken an alert in hand, by which door, and what they said; a row is never changed.
CREATE TABLE acknowledgements (
  alert_id  text NOT NULL REFERENCES alerts,
  at        timestamptz NOT NULL DEFAULT ledger_now(),
  person    text NOT NULL,
  via       text NOT NULL CHECK (via IN ('link', 'api')),
  note      text NOT NULL DEFAULT '',
  PRIMARY KEY (alert_id, person)
);

-- One row per alert and step of its escalation, written with the alert: what happens if nobody
-- acknowledges until then. It knows all that it needs, whatever the routes say on that day.
CREATE TABLE escalations (
  alert_id    text NOT NULL REFERENCES alerts,
  name        text NOT NULL,
  step        integer NOT NULL,
  due_at      timestamptz NOT NULL,
  repetition  integer NOT NULL DEFAULT 0,      -- how often the step was done
  state       text NOT NULL DEFAULT 'WAITING' CHECK (state IN ('WAITING', 'DONE', 'ENDED')),
  plan        jsonb NOT NULL,                  -- whom to tell, and how often again
  PRIMARY KEY (alert_id, name, step)
);
CREATE INDEX escalations_due ON escalations (due_at) WHERE state = 'WAITING';

-- When it was decided what follows a failure; set once, so that nothing follows twice.
ALTER TABLE deliveries ADD COLUMN fallback_at timestamptz;
CREATE INDEX deliveries_fallback ON deliveries (updated_at)
  WHERE (state = 'FAILED' OR state = 'HELD' AND plan ->> 'fallback_on' = 'held')
    AND fallback_at IS NULL AND plan -> 'fallback' <> '[]';
