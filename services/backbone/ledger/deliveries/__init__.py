"""Deliveries: claimed, settled, looked up, swept, and what makes them wait."""
