-- Channels that a person has stopped for a while: nothing of theirs is claimed.
CREATE TABLE channel_pauses (
  channel  text PRIMARY KEY,
  person   text NOT NULL,
  why      text NOT NULL,
  at       timestamptz NOT NULL DEFAULT ledger_now()
);
