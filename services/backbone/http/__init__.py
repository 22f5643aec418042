"""HTTP/1.1 as our servers speak it: with ends to heads, bodies and connections."""
