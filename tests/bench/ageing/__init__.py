"""What an archive's age costs whoever reads its last days."""
