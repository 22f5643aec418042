-- People whom a login provider vouches for: who they are is its subject, and they have no password.
ALTER TABLE console_users
  ALTER COLUMN password_hash DROP NOT NULL,
  ADD COLUMN issuer text,
  ADD COLUMN subject text,
  ADD CONSTRAINT console_users_known_one_way
    CHECK ((password_hash IS NULL) = (subject IS NOT NULL) AND (issuer IS NULL) = (subject IS NULL)),
  ADD CONSTRAINT console_users_subject UNIQUE (issuer, subject);
