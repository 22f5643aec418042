"""What lies beside Spark's checkpoints: versions, offsets, records that are read past."""
