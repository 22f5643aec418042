"""Aldebaran's programs and the packages they share; docs/architecture.md tells the way of an event."""
