"""What delivering takes: claims, the way from alert to first byte, and a storm of alerts."""
