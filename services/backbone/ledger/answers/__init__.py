"""Read-only questions: what became of an alert, and how everything stands."""
