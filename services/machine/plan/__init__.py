"""What runs on one machine: its programs, what each is told, and where deliveries go."""
