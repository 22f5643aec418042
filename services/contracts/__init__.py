"""What the programs agree on: records, declared streams, topics, ids. Imports nothing of ours."""
