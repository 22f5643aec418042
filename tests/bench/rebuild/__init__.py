"""How long a watch takes to be built again from what its topics keep."""
