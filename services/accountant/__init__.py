"""The accountant: compares what was found with what was delivered, and raises the difference."""
