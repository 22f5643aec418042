"""Tries a watch over recent events in a Spark of its own; nothing it finds leaves the process."""
