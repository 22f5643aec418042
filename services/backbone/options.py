"""Options that are passed on to a library which knows only texts, Kafka's client or Spark."""

from typing import Annotated

from pydantic import BeforeValidator, SecretStr


def spelled(options: object) -> object:
    """Return a mapping's numbers and truth values, which is what YAML makes of `30000` and `true`,
    as texts, spelled as Kafka and Spark do; all else as it is."""
    if not isinstance(options, dict):
        return options
    return {name: _text(value) for name, value in options.items()}


def _text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


SecretOptions = Annotated[dict[str, SecretStr], BeforeValidator(spelled)]
"""Options among which may be secrets: their values are masked."""
