"""What programs with an HTTP API share: keys, problems, bounded bodies, and the door for people."""
