"""The SQL behind "why was this (not) sent?": all that is recorded about one alert."""

from typing import Final

BEGINS: Final = """
SELECT alert_id FROM alerts WHERE alert_id >= %(id)s AND alert_id < %(id)s || 'g' LIMIT 2
"""

SET_ASIDE: Final = """
SELECT key, (extract(epoch FROM at) * 1000)::bigint AS at_ms FROM set_aside
WHERE key >= %(id)s AND key < %(id)s || 'g' ORDER BY key LIMIT 1
"""

ALERT: Final = """
SELECT alert_id, watch, severity, summary, routed_by, decision,
  (extract(epoch FROM detected_at) * 1000)::bigint AS detected_at_ms,
  (extract(epoch FROM accepted_at) * 1000)::bigint AS accepted_at_ms,
  (extract(epoch FROM acknowledged_at) * 1000)::bigint AS acknowledged_at_ms
FROM alerts WHERE alert_id = %(id)s
"""

DELIVERIES: Final = """
SELECT delivery_id, channel, recipient, repetition, state, attempt, marked_repeat, reason,
  provider_id, plan, suppressed_by, digest_id, p.person AS stopped_by, p.why AS stopped_why,
  (extract(epoch FROM p.at) * 1000)::bigint AS stopped_at_ms,
  (extract(epoch FROM created_at) * 1000)::bigint AS created_at_ms,
  (extract(epoch FROM updated_at) * 1000)::bigint AS updated_at_ms,
  (extract(epoch FROM next_attempt_at) * 1000)::bigint AS next_attempt_at_ms
FROM deliveries LEFT JOIN channel_pauses p USING (channel)
WHERE alert_id = %(id)s ORDER BY created_at, delivery_id LIMIT %(limit)s
"""

# A digest's carrier may be another alert's: its way is this alert's too.
CARRIERS: Final = """
SELECT c.delivery_id, c.state, c.attempt, c.marked_repeat, c.reason, c.alert_id, c.channel,
  p.person AS stopped_by, p.why AS stopped_why,
  (extract(epoch FROM p.at) * 1000)::bigint AS stopped_at_ms,
  (extract(epoch FROM c.updated_at) * 1000)::bigint AS updated_at_ms,
  (extract(epoch FROM c.next_attempt_at) * 1000)::bigint AS next_attempt_at_ms
FROM deliveries d JOIN deliveries c ON c.delivery_id = d.digest_id
  LEFT JOIN channel_pauses p ON p.channel = c.channel
WHERE d.alert_id = %(id)s AND d.digest_id <> d.delivery_id LIMIT %(limit)s
"""

# What has lapsed was noted by a deliverer that is gone.
LEFT_ALONE: Final = """
WITH asked AS (
  SELECT delivery_id, channel, recipient FROM deliveries WHERE alert_id = %(id)s
  UNION SELECT c.delivery_id, c.channel, c.recipient
  FROM deliveries d JOIN deliveries c ON c.delivery_id = d.digest_id WHERE d.alert_id = %(id)s
)
SELECT DISTINCT ON (delivery_id) delivery_id, channel, reason AS why,
  (extract(epoch FROM opened_at) * 1000)::bigint AS at_ms,
  (extract(epoch FROM probe_at) * 1000)::bigint AS probe_at_ms
FROM asked JOIN open_breakers USING (channel)
WHERE destination IN ('', recipient)
  AND noted_at > ledger_now() - make_interval(secs => %(lapses)s)
ORDER BY delivery_id, probe_at DESC LIMIT %(limit)s
"""

REPEATS: Final = """
SELECT auditor, copies, (extract(epoch FROM first_at) * 1000)::bigint AS first_at_ms,
  (extract(epoch FROM last_at) * 1000)::bigint AS last_at_ms
FROM alert_repeats WHERE alert_id = %(id)s ORDER BY auditor LIMIT %(limit)s
"""

HAPPENED: Final = """
WITH mine AS (SELECT delivery_id FROM deliveries WHERE alert_id = %(id)s)
SELECT (extract(epoch FROM at) * 1000)::bigint AS at_ms, delivery_id, what, detail FROM (
  SELECT at, delivery_id, stage || ': ' || decided AS what, why AS detail, 1 AS rank
  FROM decisions WHERE alert_id = %(id)s
  UNION ALL
  SELECT claimed_at, delivery_id, 'claimed', concat('try ', attempt, ' by ', owner), 2
  FROM attempts JOIN mine USING (delivery_id)
  UNION ALL
  SELECT finished_at, delivery_id, concat('try ', attempt, ': ', coalesce(outcome, 'ended')),
    concat_ws(' ', nullif(reason, ''), nullif(provider_id, '')), 3
  FROM attempts JOIN mine USING (delivery_id) WHERE finished_at IS NOT NULL
  UNION ALL
  SELECT given_at, delivery_id, concat('evidence: ', kind),
    concat_ws(' ', source, nullif(provider_id, ''), nullif(detail, '')), 4
  FROM evidence JOIN mine USING (delivery_id)
  UNION ALL
  SELECT given_at, delivery_id, concat(action, ' by ', person), why, 5
  FROM words JOIN mine USING (delivery_id)
) AS happened
ORDER BY at, rank LIMIT %(limit)s
"""
