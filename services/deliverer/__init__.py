"""Hands deliveries of one channel to a provider that does not know us: once, or visibly in doubt.

Claim in the ledger, send, record the outcome. docs/delivery.md tells what each channel promises.
"""
