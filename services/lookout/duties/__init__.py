"""What the keeper looks after, one duty a file."""
