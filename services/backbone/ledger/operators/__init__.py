"""What people say: acknowledgements, silences, a word on what waits, rehearsals."""
