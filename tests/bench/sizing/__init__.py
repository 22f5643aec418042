"""Sizing: what a rate of events needs and costs, from measured figures and a file of prices."""
