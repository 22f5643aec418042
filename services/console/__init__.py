"""The web page and its API: what happened, and what is in doubt."""
