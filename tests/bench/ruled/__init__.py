"""What a table of rules costs: the same watch with more and more rules in it."""
