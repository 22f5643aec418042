"""Alerts: taken in with their deliveries, and what follows from them later."""
