"""The bus that other parts' tests use."""

from tests.integration.deliverer.conftest import bus

__all__ = ["bus"]
