"""The routes file: read, checked, warned of, and read again when it changes."""
