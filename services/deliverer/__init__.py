"""Hands deliveries of one channel to a provider that does not know us."""
