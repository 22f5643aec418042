"""Aldebaran's programs and the packages they share."""
