"""Declares every topic on the brokers; run it before the other programs."""
