"""The ledger: the Postgres tables that decide what may be sent, and the only code that moves them.

Leases and due times run on the database's clock, which all owners share; a test may set it with
`SET aldebaran.now = '...'`.
"""
