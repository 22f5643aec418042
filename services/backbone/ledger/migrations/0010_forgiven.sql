-- What is missing and will stay so, by a person's word; a row is never changed.
CREATE TABLE forgiven (
  kind     text NOT NULL,
  subject  text NOT NULL,                      -- an alert or a delivery that the ledger lacks
  person   text NOT NULL,
  reason   text NOT NULL,
  at       timestamptz NOT NULL DEFAULT ledger_now(),
  PRIMARY KEY (kind, subject)
);
