"""The SQL of judging: which rows are looked at, and how a ruling moves them."""

from typing import Final

_ROWS: Final = """
SELECT d.delivery_id, d.alert_id, d.channel, d.recipient, d.state, d.attempt, d.fence, d.plan,
  (a.record - 'values' - 'event_ids')::text AS alert, d.record ->> 'subject' AS subject,
  d.suppressed_by, d.next_attempt_at, d.created_at, a.acknowledged_at IS NOT NULL AS acknowledged,
  CASE WHEN d.digest_id = d.delivery_id THEN (
    SELECT count(*) FROM deliveries m WHERE m.digest_id = d.delivery_id
  ) ELSE 0 END AS told
FROM deliveries d JOIN alerts a USING (alert_id)
{which}"""

# Apart from their digests' rows, as a turn takes only as many as it can judge in time.
TOLD: Final = """
SELECT m.digest_id, m.plan, (x.record - 'values' - 'event_ids')::text AS alert,
  x.acknowledged_at IS NOT NULL AS acknowledged
FROM deliveries m JOIN alerts x USING (alert_id) WHERE m.digest_id = ANY(%(digests)s)
ORDER BY m.created_at, m.delivery_id
"""

DUE: Final = _ROWS.format(
    which="""WHERE d.state = 'SUPPRESSED' AND d.group_key IS NULL
  AND d.next_attempt_at <= ledger_now()
ORDER BY d.next_attempt_at LIMIT %(limit)s FOR UPDATE OF d SKIP LOCKED"""
)

ENDED_EARLY: Final = _ROWS.format(
    which="""WHERE d.state = 'SUPPRESSED' AND d.suppressed_by = ANY(ARRAY(
  SELECT 'silence:' || silence_id FROM silences
  WHERE ended_at IS NOT NULL AND ends_at > ledger_now()))
LIMIT %(limit)s FOR UPDATE OF d SKIP LOCKED"""
)

PAGE: Final = _ROWS.format(
    which="""WHERE d.state = 'SUPPRESSED' AND d.group_key IS NULL AND d.delivery_id > %(after)s
ORDER BY d.delivery_id LIMIT %(limit)s FOR UPDATE OF d SKIP LOCKED"""
)

# Not locked: a claim skips locked rows, and most of these may be sent.
_UNCLAIMED: Final = """w.state IN ('PENDING', 'RETRY_WAIT')
  AND NOT EXISTS (SELECT FROM words p WHERE p.delivery_id = w.delivery_id)"""

NEXT_TO_SEND: Final = _ROWS.format(
    which="""WHERE d.delivery_id IN (
  SELECT delivery_id FROM deliveries w WHERE w.channel = %(channel)s AND {unclaimed}
    AND w.next_attempt_at <= ledger_now() + make_interval(secs => %(ahead)s)
    AND (w.next_attempt_at, w.delivery_id) > (%(after_at)s, %(after_id)s)
  ORDER BY w.next_attempt_at, w.delivery_id LIMIT %(limit)s)
ORDER BY d.next_attempt_at, d.delivery_id"""
).format(unclaimed=_UNCLAIMED)

# Open states are written out as in the index deliveries_open: only then can it be used.
BACKLOG: Final = _ROWS.format(
    which="""WHERE d.delivery_id IN (
  SELECT delivery_id FROM deliveries w WHERE {unclaimed}
    AND w.state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED')
    AND (w.created_at, w.delivery_id) > (%(after_at)s, %(after_id)s)
  ORDER BY w.created_at, w.delivery_id LIMIT %(limit)s)
ORDER BY d.created_at, d.delivery_id"""
).format(unclaimed=_UNCLAIMED)

# All groups are counted: the index holds all that this needs, and only members that wait.
GROUPS: Final = """
SELECT group_key FROM deliveries WHERE state = 'SUPPRESSED' AND group_key IS NOT NULL
GROUP BY group_key
HAVING min(next_attempt_at) <= ledger_now() OR count(*) >= min(group_limit)
ORDER BY group_key LIMIT %(limit)s
"""

GROUP_LOCK: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended(%(group)s, 6))"

MEMBERS: Final = _ROWS.format(
    which="""WHERE d.state = 'SUPPRESSED' AND d.group_key = %(group)s
ORDER BY d.created_at, d.delivery_id LIMIT %(limit)s FOR UPDATE OF d"""
)

# What a full group is left with may be fewer than make it full: its turn is the next all the same.
OTHERS_DUE: Final = """
UPDATE deliveries SET next_attempt_at = ledger_now()
WHERE next_attempt_at > ledger_now() AND delivery_id = ANY(ARRAY(
  SELECT delivery_id FROM deliveries WHERE state = 'SUPPRESSED' AND group_key = %(group)s
  ORDER BY created_at, delivery_id OFFSET %(limit)s LIMIT %(others)s FOR UPDATE))
"""

STILL_DUE: Final = """
SELECT min(group_limit) FROM deliveries WHERE state = 'SUPPRESSED' AND group_key = %(group)s
HAVING min(next_attempt_at) <= ledger_now() OR count(*) >= min(group_limit)
"""

APPLY: Final = """
WITH told AS (
  SELECT * FROM unnest(%(ids)s::text[], %(befores)s::text[], %(fences)s::bigint[],
    %(afters)s::text[], %(stages)s::text[], %(whys)s::text[], %(untils)s::timestamptz[],
    %(bys)s::text[], %(groups)s::text[], %(limits)s::integer[], %(digests)s::text[],
    %(subjects)s::text[], %(texts)s::text[])
  AS t(delivery_id, before, fence, after, stage, why, until, suppressed_by, group_key,
    group_limit, digest_id, subject, text)
), moved AS (
  UPDATE deliveries d SET state = t.after, reason = t.why, suppressed_by = t.suppressed_by,
    group_key = t.group_key, group_limit = t.group_limit, updated_at = ledger_now(),
    digest_id = coalesce(t.digest_id, d.digest_id),
    record = CASE WHEN t.subject IS NULL THEN d.record
      ELSE d.record || jsonb_build_object('subject', t.subject, 'text', t.text) END,
    next_attempt_at = CASE t.after WHEN 'SUPPRESSED' THEN t.until
      ELSE greatest(ledger_now(), d.not_before) END,
    not_before = CASE WHEN t.after = 'SUPPRESSED' AND t.before <> 'SUPPRESSED'
      THEN d.next_attempt_at WHEN t.after = 'SUPPRESSED' THEN d.not_before END,
    published_at = CASE t.after WHEN 'PENDING' THEN NULL ELSE d.published_at END
  FROM told t WHERE d.delivery_id = t.delivery_id AND d.state = t.before AND d.fence = t.fence
  RETURNING d.delivery_id, d.alert_id, d.channel, d.recipient, t.before, t.after, d.attempt,
    d.reason, CASE t.after WHEN 'PENDING' THEN octet_length(d.record::text) ELSE 0 END
      AS size_bytes, t.stage
), noted AS (
  INSERT INTO decisions (alert_id, delivery_id, stage, decided, why)
  SELECT alert_id, delivery_id, stage, after, reason FROM moved ORDER BY delivery_id
)
SELECT delivery_id, alert_id, channel, recipient, before, after, attempt, reason, size_bytes
FROM moved
"""
