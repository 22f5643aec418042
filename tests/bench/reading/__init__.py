"""How long people wait for the console, with many alerts in the ledger."""
