"""Keeps every event as Parquet, what is no event aside, and accounts for what no watch saw."""
