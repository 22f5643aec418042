"""Sends heartbeat events through every watch and measures how soon they come back."""
