"""Many alerts and deliveries, made by Postgres itself."""

import psycopg

from tests.bench.sections.course import say

_ALERTS = """
INSERT INTO alerts (alert_id, watch, severity, summary, record, routed_by, appended_at,
  detected_at, accepted_at)
SELECT md5(n::text), 'watch-' || n %% 20, (ARRAY['info', 'warning', 'critical'])[1 + n %% 3],
  'Book R-' || n || ' of Fund ' || n %% 1000 || ': ' || n %% 977 || ' of ACME bought',
  jsonb_build_object('key', jsonb_build_object('book', 'R-' || n), 'labels',
    jsonb_build_object('client', 'Fund ' || n %% 1000, 'stock', 'S' || n %% 50),
    'values', jsonb_build_object('bought', n %% 977), 'event_ids', '[]'::jsonb, 'auditor', 'a'),
  'desk', at, at, at
FROM (SELECT n, now() - n * interval '0.5 seconds' AS at
  FROM generate_series(%(first)s::int, %(last)s::int) AS n) AS numbered"""
_DELIVERIES = """
INSERT INTO deliveries (delivery_id, alert_id, channel, recipient, record, state, attempt,
  created_at, updated_at)
SELECT md5('d' || n || channel), md5(n::text), channel, 'desk', '{}',
  CASE WHEN n %% 100000 = 7 THEN 'HELD' ELSE 'SENT' END, 1, at, at
FROM (SELECT n, now() - n * interval '0.5 seconds' AS at
  FROM generate_series(%(first)s::int, %(last)s::int) AS n) AS numbered,
  unnest(ARRAY['email', 'webhook']) AS channel"""
STEP = 50_000


def fill(url: str, alerts: int) -> None:
    """Add so many alerts, newest now, two a second, each with two deliveries."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        for first in range(1, alerts + 1, STEP):
            say(f"{first - 1} of {alerts} alerts are there")
            span = {"first": first, "last": min(alerts, first + STEP - 1)}
            connection.execute(_ALERTS, span)
            connection.execute(_DELIVERIES, span)
        connection.execute("VACUUM ANALYZE alerts, deliveries")
