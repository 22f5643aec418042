"""Live change: what is declared takes the place of what runs, step by step, without a gap."""
