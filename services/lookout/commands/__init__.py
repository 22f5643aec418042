"""What operators ask and do from a command line."""
