-- Serves programs since 0018_words_planned_once
-- What is held and was never tried is not lost: in deliveries_fallback it stays, in front, for ever.
-- That index is left to programs of before, of which some ask in words that only it can serve.
SET LOCAL statement_timeout = 0;
CREATE INDEX deliveries_lost ON deliveries (updated_at)
  WHERE (state = 'FAILED' OR state = 'HELD' AND plan ->> 'fallback_on' = 'held' AND attempt > 0)
    AND fallback_at IS NULL AND plan -> 'fallback' <> '[]';
-- By this the moves of a delivery that is removed are found.
CREATE INDEX untold_moves_by_delivery ON untold_moves (delivery_id);
