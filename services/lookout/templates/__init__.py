"""What people read: templates of the routes file in a sandbox, and texts that cannot fail."""
