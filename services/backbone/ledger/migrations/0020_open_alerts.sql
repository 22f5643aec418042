-- Serves programs since 0018_words_planned_once
-- What nobody has in hand is counted often, by severity, among many alerts that are done or newer.
SET LOCAL statement_timeout = 0;
CREATE INDEX alerts_open ON alerts (severity, accepted_at DESC) WHERE acknowledged_at IS NULL;
