"""The providers that tell back, one file each."""
