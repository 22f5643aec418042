-- Serves programs since 0018_words_planned_once
-- A search within one watch walks through its own alerts, and not through a storm of another.
SET LOCAL statement_timeout = 0;
CREATE INDEX alerts_by_watch ON alerts (watch, accepted_at DESC, alert_id);
