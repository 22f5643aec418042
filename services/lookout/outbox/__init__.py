"""The outbox: what is recorded goes to the channels' topics, and out of the outbox."""
