"""The fire lookout: takes alerts, drops repeats, routes them, fans out one delivery per recipient.

A batch passes named stages, one module each: decode, drop repeats, route, record, publish.
"""
