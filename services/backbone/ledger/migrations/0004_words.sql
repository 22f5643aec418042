-- What people decided about deliveries that waited for them, and why; never changed or deleted.
CREATE TABLE words (
  delivery_id  text NOT NULL REFERENCES deliveries,
  given_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  person       text NOT NULL,
  action       text NOT NULL CHECK (action IN ('resend', 'close')),
  why          text NOT NULL,
  before       text NOT NULL
);
CREATE INDEX words_by_delivery ON words (delivery_id, given_at);
