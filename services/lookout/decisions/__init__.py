"""Decisions: who is told of an alert, now, later or instead; pure functions of values."""
