"""What `make setup` gets and checks before anything runs: Python, its packages, Java and jars."""
