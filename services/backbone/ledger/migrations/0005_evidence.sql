-- What was found out about deliveries after their sends; kept as long as the delivery itself.
-- Not weighed yet (weighed_at is null) is only what came while the delivery was CLAIMED.
CREATE TABLE evidence (
  delivery_id  text NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  kind         text NOT NULL CHECK (kind IN ('TAKEN', 'ABSENT', 'CONFIRMED', 'UNDELIVERED')),
  source       text NOT NULL,                  -- who says so: a callback, a look-up, a person
  provider_id  text NOT NULL DEFAULT '',
  attempt      integer NOT NULL DEFAULT 0,     -- which try it is about; 0 if the source cannot say
  detail       text NOT NULL DEFAULT '',
  given_at     timestamptz NOT NULL DEFAULT ledger_now(),
  weighed_at   timestamptz,
  PRIMARY KEY (delivery_id, kind, source, provider_id, attempt)
);
CREATE INDEX evidence_waiting ON evidence (delivery_id) WHERE weighed_at IS NULL;

-- Each time that a provider was asked about a try in doubt; `answered_at` is null while it is asked.
CREATE TABLE look_ups (
  delivery_id  text NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  attempt      integer NOT NULL,
  number       integer NOT NULL,               -- which of the channel's times this was, from 0
  owner        text NOT NULL,
  asked_at     timestamptz NOT NULL,
  answered_at  timestamptz,
  finding      text NOT NULL DEFAULT '',
  PRIMARY KEY (delivery_id, attempt, number)
);

-- Moves made where no producer is at hand; the channel's deliverer tells them and removes them.
CREATE TABLE untold_moves (
  move_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id  text NOT NULL REFERENCES deliveries ON DELETE CASCADE,
  alert_id     text NOT NULL,
  channel      text NOT NULL,
  recipient    text NOT NULL,
  attempt      integer NOT NULL,
  before       text NOT NULL,
  path         text[] NOT NULL,
  reason       text NOT NULL DEFAULT '',
  provider_id  text NOT NULL DEFAULT ''
);
CREATE INDEX untold_moves_by_channel ON untold_moves (channel, move_id);

ALTER TABLE words DROP CONSTRAINT words_action_check,
  ADD CONSTRAINT words_action_check CHECK (action IN ('resend', 'close', 'arrived'));

-- An alert older than the retention goes with everything that is known of it.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_alert_id_fkey,
  ADD CONSTRAINT deliveries_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alerts ON DELETE CASCADE;
ALTER TABLE attempts DROP CONSTRAINT attempts_delivery_id_fkey,
  ADD CONSTRAINT attempts_delivery_id_fkey
    FOREIGN KEY (delivery_id) REFERENCES deliveries ON DELETE CASCADE;
ALTER TABLE words DROP CONSTRAINT words_delivery_id_fkey,
  ADD CONSTRAINT words_delivery_id_fkey
    FOREIGN KEY (delivery_id) REFERENCES deliveries ON DELETE CASCADE;
