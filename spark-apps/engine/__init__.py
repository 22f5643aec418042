"""What every Spark application here stands on: session, valid events, brokers, restarts."""
