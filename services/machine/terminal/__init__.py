"""What whoever typed `make run` sees: where to look, then alerts and what becomes of them."""
