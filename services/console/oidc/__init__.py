"""Logging in by a company's own login provider: OpenID Connect, authorization code with PKCE."""
