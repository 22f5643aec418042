"""The SQL of evidence: kept, weighed and applied by one statement, so in one transaction.

`try` is the try that a piece is about: the one it names, or whose provider id it carries, or else
the last one, unless that is known by another provider id. Rules, first that fits:

1. CONFIRMED ends every open doubt and every SENT: the recipient has it.
2. UNDELIVERED fails the delivery if its try is the last, or the delivery is SENT, and no other
   try was taken, and its try has not failed before.
3. TAKEN makes open ones SENT, whichever try it was, unless that try is known to have failed.
4. ABSENT sends its try again, if that is the last one and in doubt.

A PENDING row that was tried (and then silenced, and released) is an open one; one that never was
tried is not.

`OFFSET 0`, arrays of ids and `state || ''` leave Postgres one way only to find rows: by their ids.
"""

from typing import Final, LiteralString

_WEIGH: Final[LiteralString] = """
WITH given AS (
  SELECT DISTINCT ON (delivery_id, kind, source, provider_id, attempt) *
  FROM unnest(%(ids)s::text[], %(kinds)s::text[], %(sources)s::text[], %(provider_ids)s::text[],
    %(attempts)s::integer[], %(details)s::text[])
  AS t(delivery_id, kind, source, provider_id, attempt, detail)
), found AS (
  SELECT delivery_id, alert_id, channel, recipient, state, attempt, provider_id FROM deliveries
  WHERE {choice}
), kept AS (
  INSERT INTO evidence (delivery_id, kind, source, provider_id, attempt, detail, weighed_at)
  SELECT g.delivery_id, g.kind, g.source, g.provider_id, g.attempt, g.detail,
    CASE WHEN found.state <> 'CLAIMED' THEN ledger_now() END
  FROM given g JOIN found USING (delivery_id)
  ON CONFLICT DO NOTHING
  RETURNING delivery_id, kind, source, provider_id, attempt, detail
), waited AS (
  UPDATE evidence e SET weighed_at = ledger_now() FROM found
  WHERE e.delivery_id = found.delivery_id AND e.weighed_at IS NULL AND found.state <> 'CLAIMED'
  RETURNING e.delivery_id, e.kind, e.source, e.provider_id, e.attempt, e.detail
), named AS (
  SELECT e.*, coalesce(
    nullif(e.attempt, 0),
    (SELECT max(a.attempt) FROM attempts a WHERE a.delivery_id = e.delivery_id
      AND a.provider_id = e.provider_id AND e.provider_id <> ''),
    CASE WHEN e.provider_id = '' OR NOT EXISTS (SELECT FROM attempts a
      WHERE a.delivery_id = e.delivery_id AND a.attempt = found.attempt AND a.provider_id <> ''
      OFFSET 0)
    THEN found.attempt END) AS try
  FROM (SELECT * FROM kept UNION ALL SELECT * FROM waited) e JOIN found USING (delivery_id)
  WHERE found.state <> 'CLAIMED'
), told AS (
  SELECT n.*, found.state, found.attempt > 0 AS was_tried, coalesce(a.outcome, '') AS outcome,
    n.try IS NOT DISTINCT FROM found.attempt AS is_last,
    EXISTS (SELECT FROM attempts o WHERE o.delivery_id = n.delivery_id
      AND o.attempt IS DISTINCT FROM n.try AND o.outcome IN ('SENT', 'CONFIRMED')
      OFFSET 0) AS other_taken
  FROM named n JOIN found USING (delivery_id)
  LEFT JOIN attempts a ON a.delivery_id = n.delivery_id AND a.attempt = n.try
), verdicts AS (
  SELECT DISTINCT ON (delivery_id) * FROM (
    SELECT *, CASE
      WHEN kind = 'CONFIRMED' THEN 1
      WHEN kind = 'UNDELIVERED' AND outcome <> 'FAILED' AND NOT other_taken
        AND (is_last OR state = 'SENT' AND try IS NOT NULL) THEN 2
      WHEN kind = 'TAKEN' AND outcome <> 'FAILED' AND state <> 'SENT' THEN 3
      WHEN kind = 'ABSENT' AND is_last AND state = 'IN_DOUBT' THEN 4
    END AS rule FROM told) AS ruled
  WHERE rule IS NOT NULL
    AND (state IN ('IN_DOUBT', 'HELD', 'RETRY_WAIT', 'SUPPRESSED', 'SENT')
      OR state = 'PENDING' AND was_tried)
  ORDER BY delivery_id, rule, provider_id DESC, source
), moves AS (
  SELECT v.*, CASE rule
    WHEN 1 THEN CASE state WHEN 'SENT' THEN ARRAY['CONFIRMED'] ELSE ARRAY['SENT', 'CONFIRMED'] END
    WHEN 2 THEN CASE state WHEN 'SENT' THEN ARRAY['FAILED'] ELSE ARRAY['SENT', 'FAILED'] END
    WHEN 3 THEN ARRAY['SENT'] ELSE ARRAY['RETRY_WAIT'] END AS path,
    concat(kind, ' by ', source, CASE detail WHEN '' THEN '' ELSE ': ' END, detail) AS reason
  FROM verdicts v
), moved AS (
  UPDATE deliveries d SET state = m.path[cardinality(m.path)], reason = m.reason,
    provider_id = CASE m.provider_id WHEN '' THEN d.provider_id ELSE m.provider_id END,
    next_attempt_at = ledger_now(), updated_at = ledger_now()
  FROM moves m WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM moves))
    AND d.delivery_id = m.delivery_id
  RETURNING d.delivery_id, m.path, m.reason, d.provider_id
), tried AS (
  UPDATE attempts a SET outcome = c.outcome, reason = c.detail, finished_at = ledger_now(),
    provider_id = CASE c.provider_id WHEN '' THEN a.provider_id ELSE c.provider_id END
  FROM (
    SELECT DISTINCT ON (delivery_id, try) delivery_id, try, provider_id, detail,
      CASE kind WHEN 'TAKEN' THEN 'SENT' WHEN 'UNDELIVERED' THEN 'FAILED'
        WHEN 'ABSENT' THEN 'RETRY_WAIT' ELSE kind END AS outcome
    FROM told WHERE kind = 'CONFIRMED'
      OR kind = 'UNDELIVERED' AND outcome <> 'CONFIRMED'
      OR kind = 'TAKEN' AND outcome IN ('', 'IN_DOUBT', 'RETRY_WAIT')
      OR kind = 'ABSENT' AND outcome IN ('', 'IN_DOUBT')
    ORDER BY delivery_id, try, array_position(
      ARRAY['CONFIRMED', 'UNDELIVERED', 'TAKEN', 'ABSENT'], kind), provider_id DESC, source) c
  WHERE a.delivery_id = ANY(ARRAY(SELECT delivery_id FROM told))
    AND a.delivery_id = c.delivery_id AND a.attempt = c.try
), announced AS (
  INSERT INTO untold_moves
    (delivery_id, alert_id, channel, recipient, attempt, before, path, reason, provider_id)
  SELECT delivery_id, alert_id, channel, recipient, found.attempt, found.state, moved.path,
    moved.reason, moved.provider_id
  FROM moved JOIN found USING (delivery_id)
)
SELECT delivery_id, alert_id, channel, recipient, found.attempt, found.state AS before, moved.path,
  coalesce(moved.reason, '') AS reason,
  coalesce(moved.provider_id, found.provider_id) AS provider_id
FROM found LEFT JOIN moved USING (delivery_id)"""

GIVE: Final = _WEIGH.format(choice="delivery_id = ANY(%(ids)s) ORDER BY delivery_id FOR UPDATE")
"""Keeps new evidence and weighs it; terms: the columns of the evidence."""

TO_BE_WEIGHED: Final = """
  delivery_id = ANY(ARRAY(SELECT delivery_id FROM evidence WHERE weighed_at IS NULL))
  AND channel || '' = %(channel)s AND state || '' <> 'CLAIMED'"""
"""Deliveries with evidence that has waited for a claim to end."""

WEIGH: Final = _WEIGH.format(choice=f"{TO_BE_WEIGHED} LIMIT %(limit)s FOR UPDATE SKIP LOCKED")
"""Weighs what has waited for a claim to end; terms: no evidence, `channel`, `limit`."""
