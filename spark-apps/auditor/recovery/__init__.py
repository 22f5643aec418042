"""What is done for a watch in trouble: bad records found, checkpoints built again."""
