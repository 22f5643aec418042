-- Until when a channel's rate is given out; its deliverers take their turns here.
CREATE TABLE turns (
  channel  text PRIMARY KEY,
  next_at  timestamptz NOT NULL                -- when the next turn begins, if the limit binds
);
