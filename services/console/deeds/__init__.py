"""What people do: each deed is allowed, done once however often it is pressed, and kept."""
