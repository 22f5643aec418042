-- Watches that people try over recent events before they go live.
CREATE TABLE rehearsals (
  rehearsal_id  text PRIMARY KEY,
  asked_at      timestamptz NOT NULL DEFAULT ledger_now(),
  asked_by      text NOT NULL,
  watch         text NOT NULL,
  question      jsonb NOT NULL,
  state         text NOT NULL DEFAULT 'ASKED' CHECK (state IN ('ASKED', 'RUNS', 'DONE', 'FAILED')),
  runner        text,                            -- who tries it
  tries         integer NOT NULL DEFAULT 0,
  lease_ends    timestamptz,                     -- after it somebody else may
  answer        jsonb,
  trouble       text NOT NULL DEFAULT '',        -- why there is no answer
  ended_at      timestamptz
);
CREATE INDEX rehearsals_open ON rehearsals (asked_at) WHERE state IN ('ASKED', 'RUNS');
CREATE INDEX rehearsals_newest ON rehearsals (asked_at DESC);
