"""Tries watches over recent events, one at a time, each in a short-lived Spark of its own."""
