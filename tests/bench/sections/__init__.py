"""The sections of the report, each a function that measures and writes as it goes."""
