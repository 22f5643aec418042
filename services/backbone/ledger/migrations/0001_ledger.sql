-- The clock of the ledger: the database's own, unless a test has set one for its session.
CREATE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('aldebaran.now', true), '')::timestamptz, clock_timestamp())
$$;

-- One row per finding; the primary key is what drops repeats.
CREATE TABLE alerts (
  alert_id     text PRIMARY KEY,
  watch        text NOT NULL,
  severity     text NOT NULL,
  summary      text NOT NULL,
  record       jsonb NOT NULL,
  routed_by    text NOT NULL,            -- names of the routes that matched, or why none did
  appended_at  timestamptz NOT NULL,     -- broker's time of the newest event behind the finding
  detected_at  timestamptz NOT NULL,
  accepted_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX alerts_accepted ON alerts (accepted_at DESC, alert_id);

-- One row per message to one recipient; its state decides whether a byte may leave.
CREATE TABLE deliveries (
  delivery_id     text PRIMARY KEY,
  alert_id        text NOT NULL REFERENCES alerts,
  channel         text NOT NULL,
  recipient       text NOT NULL,
  repetition      integer NOT NULL DEFAULT 0,
  record          jsonb NOT NULL,
  state           text NOT NULL DEFAULT 'PENDING' CHECK (state IN
    ('PENDING','CLAIMED','SENT','CONFIRMED','RETRY_WAIT','FAILED','IN_DOUBT','HELD','SUPPRESSED','CLOSED')),
  attempt         integer NOT NULL DEFAULT 0,
  fence           bigint NOT NULL DEFAULT 0,   -- grows with every claim; a stale owner's writes miss
  owner           text,
  lease_until     timestamptz,
  next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  marked_repeat   boolean NOT NULL DEFAULT false,
  reason          text NOT NULL DEFAULT '',
  provider_id     text NOT NULL DEFAULT '',
  published_at    timestamptz,                 -- outbox: null until deliveries.<channel> has it
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (alert_id, channel, recipient, repetition)
);
CREATE INDEX deliveries_unpublished ON deliveries (created_at) WHERE published_at IS NULL;
CREATE INDEX deliveries_due ON deliveries (channel, next_attempt_at)
  WHERE state IN ('PENDING', 'RETRY_WAIT');
CREATE INDEX deliveries_leased ON deliveries (channel, lease_until) WHERE state = 'CLAIMED';
CREATE INDEX deliveries_doubtful ON deliveries (channel, updated_at) WHERE state = 'IN_DOUBT';
CREATE INDEX deliveries_by_alert ON deliveries (alert_id);

-- Every try of every delivery, written with the claim and completed with its outcome.
CREATE TABLE attempts (
  delivery_id  text NOT NULL REFERENCES deliveries,
  attempt      integer NOT NULL,
  fence        bigint NOT NULL,
  owner        text NOT NULL,
  claimed_at   timestamptz NOT NULL,
  finished_at  timestamptz,
  outcome      text,                           -- the state that the try ended in
  reason       text NOT NULL DEFAULT '',
  provider_id  text NOT NULL DEFAULT '',
  PRIMARY KEY (delivery_id, attempt)
);
