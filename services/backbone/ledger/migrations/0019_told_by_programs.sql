-- Serves programs since 0018_words_planned_once
-- What a channel's deliverers know by name: recipients that stand in their own settings.
CREATE TABLE channel_names (
    channel text PRIMARY KEY,
    names text[] NOT NULL,
    told_at timestamptz NOT NULL DEFAULT ledger_now()
);
-- Destinations that a deliverer leaves alone for now; a row that is not noted anew has lapsed.
CREATE TABLE open_breakers (
    channel text NOT NULL,
    owner text NOT NULL,
    destination text NOT NULL,
    reason text NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT ledger_now(),
    probe_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT ledger_now(),
    PRIMARY KEY (channel, owner, destination)
);
-- Copies of alerts that were dropped, counted some time after.
CREATE TABLE alert_repeats (
    alert_id text NOT NULL REFERENCES alerts ON DELETE CASCADE,
    auditor text NOT NULL,
    copies bigint NOT NULL,
    first_at timestamptz NOT NULL DEFAULT ledger_now(),
    last_at timestamptz NOT NULL DEFAULT ledger_now(),
    PRIMARY KEY (alert_id, auditor)
);
