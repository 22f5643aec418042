"""How fast the watching is: run by `make bench`, never by `make test`."""
