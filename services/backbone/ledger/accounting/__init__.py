"""What the accountant asks the ledger, and what it keeps there; every answer is bounded."""
