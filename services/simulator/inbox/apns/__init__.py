"""Apple's push service as a stand-in: HTTP/2 over TLS, its rules, and the phones behind it."""
