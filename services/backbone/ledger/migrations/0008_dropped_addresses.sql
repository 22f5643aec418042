-- Addresses that a provider has declared dead, so that nothing is sent there until a new one is set.
CREATE TABLE dropped_addresses (
    channel text NOT NULL,
    address_digest text NOT NULL,
    recipient text NOT NULL,
    reason text NOT NULL,
    dropped_at timestamptz NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (channel, address_digest)
);
