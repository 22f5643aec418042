"""The JSON API under /v1: everything that the pages show and do."""
