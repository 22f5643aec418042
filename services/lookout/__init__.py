"""The fire lookout: drops repeats of alerts, applies routes, fans out deliveries."""
