"""The SQL of accounting."""

from typing import Final

from services.backbone.ledger.states import OVER

ASIDE: Final = """
INSERT INTO set_aside (key) SELECT unnest(%(keys)s::text[]) ON CONFLICT DO NOTHING"""

MISSING: Final = """
SELECT key FROM unnest(%(keys)s::text[]) AS given (key)
WHERE NOT EXISTS (SELECT FROM alerts WHERE alert_id = key)
  AND NOT EXISTS (SELECT FROM set_aside s WHERE s.key = given.key)
  AND NOT EXISTS (SELECT FROM forgiven f
    WHERE f.kind = 'missing_alert' AND f.subject = given.key)"""

ABSENCES: Final = """
SELECT a.alert_id, told ->> 'delivery_id' AS delivery_id, told ->> 'channel' AS channel,
  told ->> 'recipient' AS recipient
FROM alerts a, jsonb_array_elements(coalesce(a.decision -> 'told', '[]')) AS told
WHERE a.alert_id = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM deliveries d WHERE d.delivery_id = told ->> 'delivery_id')
  AND NOT EXISTS (SELECT FROM forgiven f
    WHERE f.kind = 'missing_recipient' AND f.subject = told ->> 'delivery_id')"""

STILL_ABSENT: Final = """
SELECT subject FROM findings f
WHERE kind = 'missing_recipient' AND ended_at IS NULL AND subject = ANY(%(ids)s)
  AND NOT EXISTS (SELECT FROM deliveries d WHERE d.delivery_id = f.subject)
  AND NOT EXISTS (SELECT FROM forgiven g WHERE (g.kind, g.subject) = (f.kind, f.subject))"""

# The first condition lets the index begin at the right place; the second is exact.
PAGE: Final = """
SELECT (extract(epoch FROM accepted_at) * 1000000)::bigint AS at_us, alert_id FROM alerts
WHERE accepted_at >= greatest('epoch'::timestamptz + %(at_us)s * interval '1 microsecond',
    ledger_now() - make_interval(secs => %(since)s))
  AND (accepted_at > 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
    OR alert_id < %(alert_id)s)
  AND accepted_at < ledger_now() - make_interval(secs => %(until)s)
ORDER BY accepted_at, alert_id DESC LIMIT %(limit)s"""

BACKLOGS: Final = """
SELECT channel, count(*) AS count,
  max(extract(epoch FROM ledger_now() - since))::float8 AS longest_seconds
FROM (
  SELECT channel, next_attempt_at AS since FROM deliveries WHERE state IN ('PENDING', 'RETRY_WAIT')
  UNION ALL SELECT channel, lease_until FROM deliveries WHERE state = 'CLAIMED') AS due
WHERE since < ledger_now() - make_interval(secs => %(due)s)
GROUP BY channel"""

# The limit is of each kind: many of one would hide those of another, which then never end.
OPEN_FINDINGS: Final = """
SELECT kind, subject, channel, detail, number, found_at_ms FROM (
  SELECT kind, subject, channel, detail, finding_id AS number,
    (extract(epoch FROM found_at) * 1000)::bigint AS found_at_ms,
    row_number() OVER (PARTITION BY kind ORDER BY finding_id) AS place
  FROM findings WHERE ended_at IS NULL AND (%(kind)s::text IS NULL OR kind = %(kind)s)
) AS open WHERE place <= %(limit)s ORDER BY number"""

OPEN_COUNTS: Final = """
SELECT kind, count(*) FROM findings WHERE ended_at IS NULL GROUP BY kind"""

KEEP: Final = """
WITH ended AS (
  UPDATE findings SET ended_at = ledger_now()
  WHERE finding_id = ANY(%(ended)s::bigint[]) AND ended_at IS NULL
)
INSERT INTO findings (kind, subject, channel, detail)
SELECT * FROM unnest(%(kinds)s::text[], %(subjects)s::text[], %(channels)s::text[],
  %(details)s::text[])
ON CONFLICT DO NOTHING"""

FORGIVE: Final = """
WITH ended AS (
  UPDATE findings SET ended_at = ledger_now()
  WHERE ended_at IS NULL AND kind = ANY(%(kinds)s) AND subject = ANY(%(subjects)s)
  RETURNING kind, subject
), noted AS (
  INSERT INTO forgiven (kind, subject, person, reason)
  SELECT kind, subject, %(person)s, %(reason)s FROM ended ON CONFLICT DO NOTHING
)
SELECT subject FROM ended"""

FORGIVEN: Final = """
SELECT kind, subject, person, reason, at FROM forgiven ORDER BY at DESC, subject LIMIT %(limit)s"""

# After a storm there are many: only their numbers are read, and the limit is of each kind, so that
# none waits until all of another kind are told.
UNRAISED: Final = """
WITH due AS MATERIALIZED (
  SELECT kind FROM (
    SELECT DISTINCT kind FROM findings WHERE raised_at IS NULL AND ended_at IS NULL) AS open
  WHERE NOT EXISTS (SELECT FROM findings o WHERE o.kind = open.kind
    AND o.raised_at > ledger_now() - make_interval(secs => %(every)s))
), taken AS MATERIALIZED (
  SELECT each.* FROM due CROSS JOIN LATERAL (
    SELECT kind, channel, finding_id FROM findings f
    WHERE f.kind = due.kind AND raised_at IS NULL AND ended_at IS NULL
      AND NOT EXISTS (SELECT FROM forgiven g WHERE (g.kind, g.subject) = (f.kind, f.subject))
      AND found_at <= ledger_now() - make_interval(secs => %(settle)s)
    ORDER BY finding_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED) AS each
)
SELECT kind, channel, array_agg(finding_id ORDER BY finding_id) FROM taken GROUP BY kind, channel"""

NAMED: Final = """
SELECT kind, subject, channel, detail, finding_id AS number,
  (extract(epoch FROM found_at) * 1000)::bigint AS found_at_ms
FROM findings WHERE finding_id = ANY(%(numbers)s::bigint[])"""

RAISE: Final = """
WITH alert AS (
  INSERT INTO alerts
    (alert_id, watch, severity, summary, record, routed_by, appended_at, detected_at)
  SELECT r ->> 'alert_id', r ->> 'watch', r ->> 'severity', r ->> 'summary', r, 'the accountant',
    ledger_now(), ledger_now()
  FROM (SELECT %(alert)s::jsonb AS r) AS given
), delivery AS (
  INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, repetition, record, plan)
  SELECT r ->> 'delivery_id', r -> 'alert' ->> 'alert_id', r ->> 'channel', r ->> 'recipient', 0, r,
    %(plan)s::jsonb
  FROM (SELECT %(delivery)s::jsonb AS r) AS given
)
UPDATE findings SET raised_at = ledger_now(), raised_by = %(alert)s::jsonb ->> 'alert_id'
WHERE finding_id = ANY(%(numbers)s::bigint[])"""

# Deliveries go first, so many at a time: one alert may have very many, each with rows of its own.
# Its steps go with the first of them: nothing new is to be made of it meanwhile.
PRUNE_DELIVERIES: Final = f"""
WITH old AS MATERIALIZED (
  SELECT alert_id, accepted_at FROM alerts a
  WHERE accepted_at < ledger_now() - make_interval(secs => %(retention)s)
    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.alert_id = a.alert_id
      AND d.state NOT IN ({OVER}))
  ORDER BY accepted_at LIMIT %(limit)s
), steps_gone AS (
  DELETE FROM escalations WHERE alert_id IN (SELECT alert_id FROM old)
)
DELETE FROM deliveries WHERE state IN ({OVER}) AND delivery_id = ANY(ARRAY(
  SELECT delivery_id FROM old CROSS JOIN LATERAL (
    SELECT delivery_id FROM deliveries d WHERE d.alert_id = old.alert_id
    LIMIT %(deliveries)s) AS its
  ORDER BY old.accepted_at LIMIT %(deliveries)s))"""  # noqa: S608 - no input in it

PRUNE: Final = """
DELETE FROM alerts WHERE alert_id IN (
  SELECT alert_id FROM alerts a
  WHERE accepted_at < ledger_now() - make_interval(secs => %(retention)s)
    AND NOT EXISTS (SELECT FROM deliveries d WHERE d.alert_id = a.alert_id)
  ORDER BY accepted_at LIMIT %(limit)s)"""

PRUNE_NOTES: Final = """
WITH findings_gone AS (
  DELETE FROM findings WHERE finding_id IN (SELECT finding_id FROM findings
    WHERE coalesce(ended_at, found_at) < ledger_now() - make_interval(secs => %(retention)s)
    LIMIT %(limit)s)
), forgiven_gone AS (
  DELETE FROM forgiven WHERE (kind, subject) IN (SELECT kind, subject FROM forgiven
    WHERE at < ledger_now() - make_interval(secs => %(retention)s) LIMIT %(limit)s)
)
DELETE FROM set_aside WHERE key IN (SELECT key FROM set_aside
  WHERE at < ledger_now() - make_interval(secs => %(retention)s) LIMIT %(limit)s)"""

TOTALS: Final = f"""
SELECT count(DISTINCT a.alert_id) AS alerts, count(d.delivery_id) AS recipients,
  count(*) FILTER (WHERE d.state IN ({OVER})) AS terminal,
  count(*) FILTER (WHERE d.state NOT IN ({OVER})) AS open
FROM alerts a LEFT JOIN deliveries d USING (alert_id)
WHERE a.alert_id = ANY(%(ids)s)"""  # noqa: S608 - no input in it
