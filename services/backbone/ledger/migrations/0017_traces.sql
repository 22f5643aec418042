-- Keys whose records are followed in detail for a while, and the steps that were seen of them.
CREATE TABLE traces (
  trace_id  text PRIMARY KEY,
  key       text NOT NULL,
  person    text NOT NULL,
  why       text NOT NULL,
  begun_at  timestamptz NOT NULL DEFAULT ledger_now(),
  ends_at   timestamptz NOT NULL,
  places    jsonb NOT NULL DEFAULT '{}'          -- where reading the topics goes on
);
CREATE INDEX traces_ends ON traces (ends_at);

CREATE TABLE trace_lines (
  trace_id  text NOT NULL REFERENCES traces ON DELETE CASCADE,
  line_id   text NOT NULL,                       -- the same step, seen again, is the same line
  number    bigint GENERATED ALWAYS AS IDENTITY,
  at        timestamptz NOT NULL,
  step      text NOT NULL,
  detail    text NOT NULL,
  alert_id  text,
  PRIMARY KEY (trace_id, line_id)
);
CREATE INDEX trace_lines_number ON trace_lines (trace_id, number);
