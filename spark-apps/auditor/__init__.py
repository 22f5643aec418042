"""Runs watches over streams in real time: the Spark application."""
