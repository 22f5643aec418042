"""Aldebaran on one machine: sets up, starts and stops every part."""
