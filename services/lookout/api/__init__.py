"""What operators do over HTTP: silence, acknowledge, ask why, look at routes, send a test."""
