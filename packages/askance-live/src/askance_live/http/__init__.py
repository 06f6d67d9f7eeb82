"""Requests on their way to a route: limits, bodies, checks, errors, TLS, and the interface described."""
