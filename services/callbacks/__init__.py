"""The public door for what providers tell back, as evidence for the ledger."""
