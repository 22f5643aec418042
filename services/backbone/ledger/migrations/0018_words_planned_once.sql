-- The same words as before. A function in SQL is read and planned anew for every alert that comes
-- in, one in PL/pgSQL once for each connection.
CREATE OR REPLACE FUNCTION alert_words(watch text, severity text, summary text, record jsonb)
RETURNS tsvector LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
  values_told text;
  names text[];
BEGIN
  SELECT string_agg(value, ' '), array_agg('label:' || key || '=' || value)
  INTO values_told, names
  FROM (SELECT * FROM jsonb_each_text(nullif(record -> 'key', 'null'))
    UNION ALL SELECT * FROM jsonb_each_text(nullif(record -> 'labels', 'null'))) AS named
  WHERE value IS NOT NULL;
  RETURN to_tsvector('simple', left(summary, 1000))
    || to_tsvector('simple', coalesce(left(values_told, 2000), ''))
    || array_to_tsvector(ARRAY(
      SELECT DISTINCT left(lower(name), 200)
      FROM unnest(names || ARRAY['watch:' || watch, 'severity:' || severity]) AS name));
END
$$;
