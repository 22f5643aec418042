"""Makes traffic, and plays the people and providers at both ends."""
