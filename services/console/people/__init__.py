"""Who may use the console: users, passwords, sessions, roles, and what they have done."""
