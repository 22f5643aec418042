"""From when a delivery's age counts, and for how long a person's word makes it young."""

from typing import Final

FOUND: Final = "least(created_at, alerted_at)"
"""The finding; as the index deliveries_ages has it."""
AGED_SINCE: Final = f"greatest({FOUND}, to_timestamp((plan ->> 'asked_at_ms')::bigint / 1000.0))"
"""The finding, or when a message after intake was asked for."""
# A word counts for the time that a finding does: in a ledger restored from a backup all are older.
IS_YOUNG: Final = f"""({AGED_SINCE} > ledger_now() - make_interval(secs => %(age_limit)s)
  OR EXISTS (SELECT FROM words w WHERE w.delivery_id = deliveries.delivery_id
    AND w.given_at > ledger_now() - make_interval(secs => %(age_limit)s) OFFSET 0))"""
"""No older than the limit of age, or nor is a person's last word on it."""
# The second is there since the ledger's clock goes on within the statement that records a row.
AT_ONCE: Final = """NOT plan ? 'asked_at_ms'
    AND next_attempt_at <= created_at + interval '1 second'"""
"""It was to go as soon as its alert was recorded, and waited neither for an escalation's step or a
failure, nor for a group, an end of quiet hours or of a silence."""
TOO_OLD: Final = "too old to be sent without a person's word"
"""Why what is not young is held, in words."""
