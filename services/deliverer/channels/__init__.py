"""The ways to reach a recipient, one file each; `wiring.py` lists them."""
