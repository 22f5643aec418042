"""Aldebaran on one machine: what it needs, its broker and database, and who keeps all running."""
