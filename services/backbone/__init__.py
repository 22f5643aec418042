"""What every program stands on: settings, clock, errors, Kafka, ledger, health, metrics, log."""
