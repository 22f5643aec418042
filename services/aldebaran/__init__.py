"""The command line for people on duty: it asks the console's API."""
