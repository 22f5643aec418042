"""When batches end, and what they tell."""
