-- One index for every way to look for alerts: words of the summary and of values, and whole values
-- under their names, so that rare ones are found among any number of common ones.
SET LOCAL statement_timeout = 0;
CREATE FUNCTION alert_words(watch text, severity text, summary text, record jsonb)
RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_tsvector('simple', left(summary, 1000))
    || to_tsvector('simple', coalesce(left((SELECT string_agg(value, ' ')
      FROM (SELECT value FROM jsonb_each_text(nullif(record -> 'key', 'null'))
        UNION ALL SELECT value FROM jsonb_each_text(nullif(record -> 'labels', 'null'))) AS named),
      2000), ''))
    || array_to_tsvector(ARRAY(
      SELECT DISTINCT left(lower(name), 200) FROM (
        SELECT 'watch:' || watch AS name
        UNION ALL SELECT 'severity:' || severity
        UNION ALL SELECT 'label:' || key || '=' || value
          FROM jsonb_each_text(nullif(record -> 'key', 'null')) WHERE value IS NOT NULL
        UNION ALL SELECT 'label:' || key || '=' || value
          FROM jsonb_each_text(nullif(record -> 'labels', 'null')) WHERE value IS NOT NULL) AS names))
$$;
ALTER TABLE alerts ADD COLUMN words tsvector
  GENERATED ALWAYS AS (alert_words(watch, severity, summary, record)) STORED;
CREATE INDEX alerts_words ON alerts USING gin (words);
