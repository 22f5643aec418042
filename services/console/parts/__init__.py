"""The other programs, looked at from outside: whether they are ready, and their metrics."""
