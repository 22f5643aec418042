"""The providers that the inbox plays over HTTP, one file each."""
