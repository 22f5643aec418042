"""The brokers that other parts' tests use."""

from tests.integration.deliverer.conftest import bus, foreign_broker

__all__ = ["bus", "foreign_broker"]
