"""The SQL of reading; times leave as milliseconds, places as microseconds."""

from collections.abc import Sequence
from typing import Final

ALERT_COLUMNS: Final = """
SELECT alert_id, watch, severity, summary,
  (extract(epoch FROM appended_at) * 1000)::bigint AS appended_at_ms,
  (extract(epoch FROM detected_at) * 1000)::bigint AS detected_at_ms,
  (extract(epoch FROM accepted_at) * 1000)::bigint AS accepted_at_ms,
  (extract(epoch FROM acknowledged_at) * 1000)::bigint AS acknowledged_at_ms,
  (extract(epoch FROM ledger_now() - accepted_at) * 1000)::bigint AS age_ms,
  (extract(epoch FROM accepted_at) * 1000000)::bigint AS place_us
"""
_ALERT: Final = ALERT_COLUMNS + "FROM alerts\n"

_DELIVERY: Final = """
SELECT delivery_id, alert_id, watch, severity, summary, channel, recipient, repetition, state,
  attempt, marked_repeat, reason, provider_id,
  (extract(epoch FROM created_at) * 1000)::bigint AS created_at_ms,
  (extract(epoch FROM updated_at) * 1000)::bigint AS updated_at_ms,
  (extract(epoch FROM next_attempt_at) * 1000)::bigint AS next_attempt_at_ms,
  (extract(epoch FROM ledger_now() - created_at) * 1000)::bigint AS age_ms,
  (extract(epoch FROM created_at) * 1000000)::bigint AS place_us
FROM deliveries JOIN alerts USING (alert_id)
"""

# The first condition lets the index begin at the right place; the second is exact.
NEWEST_ALERTS: Final = (
    _ALERT
    + """
WHERE accepted_at <= 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
  AND (accepted_at < 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
    OR alert_id > %(row_id)s)
  AND accepted_at >= 'epoch'::timestamptz + %(since_us)s * interval '1 microsecond'
ORDER BY accepted_at DESC, alert_id LIMIT %(limit)s"""
)

ONE_ALERT: Final = _ALERT + "WHERE alert_id = %(alert_id)s"

RECORD: Final = "SELECT record, routed_by FROM alerts WHERE alert_id = %(alert_id)s"

MARKS: Final = """
SELECT alert_id, channel, recipient, state, of_all FROM (
  SELECT alert_id, channel, recipient, state, count(*) OVER (PARTITION BY alert_id) AS of_all,
    row_number() OVER (PARTITION BY alert_id ORDER BY created_at, delivery_id) AS number
  FROM deliveries WHERE alert_id = ANY(%(ids)s)) AS numbered
WHERE number <= %(limit)s ORDER BY alert_id, number"""

# The newest of one alert come first: where a limit cuts, what happens now is not cut off.
DELIVERIES_OF: Final = (
    _DELIVERY
    + """
WHERE alert_id = %(alert_id)s ORDER BY created_at DESC, delivery_id DESC LIMIT %(limit)s"""
)

ONE_DELIVERY: Final = _DELIVERY + "WHERE delivery_id = %(delivery_id)s"

ATTEMPTS_OF: Final = """
SELECT delivery_id, a.attempt, a.owner, outcome, a.reason, a.provider_id,
  (extract(epoch FROM claimed_at) * 1000)::bigint AS claimed_at_ms,
  (extract(epoch FROM finished_at) * 1000)::bigint AS finished_at_ms
FROM attempts a JOIN deliveries USING (delivery_id)
WHERE alert_id = %(alert_id)s
ORDER BY claimed_at DESC, delivery_id DESC, a.attempt DESC LIMIT %(limit)s"""

DECISIONS_OF: Final = """
SELECT delivery_id, (extract(epoch FROM at) * 1000)::bigint AS at_ms, stage, decided, why
FROM decisions WHERE alert_id = %(alert_id)s ORDER BY decision_id DESC LIMIT %(limit)s"""

# Written out as in the indexes deliveries_open and deliveries_failed: only then can they be used.
IS_OPEN: Final = "state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED')"

HAS_FAILED: Final = "state = 'FAILED'"
IS_ANY: Final = "true"

_OF_CHANNEL: Final = " AND channel = %(channel)s"
_NEWEST_DELIVERIES: Final = """
  AND created_at <= 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
  AND (created_at < 'epoch'::timestamptz + %(at_us)s * interval '1 microsecond'
    OR delivery_id > %(row_id)s)
ORDER BY created_at DESC, delivery_id LIMIT %(limit)s"""

OLDEST_OPEN_DELIVERIES: Final = (
    _DELIVERY + "WHERE " + IS_OPEN + " ORDER BY created_at, delivery_id LIMIT %(limit)s"
)

# One branch a state, so that each has its own small index.
_OF_ONE_STATE: Final = "({} WHERE state = '{}' ORDER BY created_at LIMIT %(limit)s)"
WAITING_FOR_PEOPLE: Final = " UNION ALL ".join(
    _OF_ONE_STATE.format(_DELIVERY, state) for state in ("IN_DOUBT", "HELD")
)

# No index leads to the channels of ended deliveries: they are looked for among the newest.
CHANNELS: Final = """
SELECT channel FROM channel_names UNION SELECT channel FROM turns
UNION SELECT channel FROM channel_pauses
UNION SELECT channel FROM (
  SELECT channel FROM deliveries ORDER BY created_at DESC LIMIT %(limit)s) AS newest
ORDER BY channel"""

OPEN_COUNTS: Final = """
SELECT state, count(*) AS count FROM (
  SELECT state FROM deliveries
  WHERE state IN ('PENDING', 'CLAIMED', 'RETRY_WAIT', 'IN_DOUBT', 'HELD', 'SUPPRESSED')
  LIMIT %(limit)s) AS open
GROUP BY state"""


def newest_deliveries(kinds: Sequence[str], by_channel: bool) -> str:
    """Return the question for the newest deliveries of some kinds: a branch for each, so that each
    has its own index.
    """
    rest = (_OF_CHANNEL if by_channel else "") + _NEWEST_DELIVERIES
    asked = [f"{_DELIVERY}WHERE state = ANY(%(states)s) AND {kind}{rest}" for kind in kinds]
    if len(asked) == 1:
        return asked[0]
    together = " UNION ALL ".join(f"({each})" for each in asked)
    return f"{together} ORDER BY place_us DESC, delivery_id LIMIT %(limit)s"
