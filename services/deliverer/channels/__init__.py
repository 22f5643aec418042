"""The ways to reach a recipient: each module or package here is one, and has `open_channel`."""
