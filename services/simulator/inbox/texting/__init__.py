"""The parts of the provider that sends text messages: what it keeps, says, and calls back."""
