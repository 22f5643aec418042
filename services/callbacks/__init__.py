"""The public door: what providers and people tell back, checked and given to the ledger."""
