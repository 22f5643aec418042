-- People who use the console: what they may do, and until when they are known.
CREATE TABLE console_users (
  name           text PRIMARY KEY,
  password_hash  text NOT NULL,                 -- argon2id; empty: this door is closed
  role           text NOT NULL CHECK (role IN ('viewer', 'responder', 'admin')),
  made_at        timestamptz NOT NULL DEFAULT ledger_now(),
  made_by        text NOT NULL,
  closed_at      timestamptz                    -- no longer let in; kept for what was done
);
CREATE TABLE console_sessions (
  token_sha256   text PRIMARY KEY,              -- whoever reads the table cannot use it
  name           text NOT NULL REFERENCES console_users ON DELETE CASCADE,
  opened_at      timestamptz NOT NULL DEFAULT ledger_now(),
  seen_at        timestamptz NOT NULL DEFAULT ledger_now(),
  ends_at        timestamptz NOT NULL
);
CREATE INDEX console_sessions_ends ON console_sessions (ends_at);
CREATE INDEX console_sessions_name ON console_sessions (name);

-- What people have done, and what they were refused; only added to.
CREATE TABLE audit_log (
  audit_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at        timestamptz NOT NULL DEFAULT ledger_now(),
  person    text NOT NULL,
  role      text NOT NULL,
  door      text NOT NULL,                      -- page, api or command
  action    text NOT NULL,
  subject   text NOT NULL,                      -- what it was done to
  detail    text NOT NULL DEFAULT '',
  outcome   text NOT NULL,
  key       text UNIQUE                         -- the same press again is found by it, and not done
);
CREATE INDEX audit_log_at ON audit_log (at DESC);
CREATE INDEX audit_log_subject ON audit_log (subject, audit_id);

-- Dead letters are counted and listed often, among many rows that are done.
CREATE INDEX deliveries_failed ON deliveries (created_at) WHERE state = 'FAILED';

ALTER TABLE acknowledgements DROP CONSTRAINT acknowledgements_via_check,
  ADD CONSTRAINT acknowledgements_via_check CHECK (via IN ('link', 'api', 'console'));
ALTER TABLE words DROP CONSTRAINT words_action_check,
  ADD CONSTRAINT words_action_check CHECK (action IN ('resend', 'close', 'arrived', 'absent'));
