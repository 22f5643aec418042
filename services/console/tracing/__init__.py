"""Following the records of one key in detail for a while.

A trace is a reading: every step already stands on a topic or in the ledger, so the programs on the
way of an event do nothing for it, whether a trace is on or not.
"""
