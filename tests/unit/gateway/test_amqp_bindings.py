"""The file of bindings says what is wrong before anything starts."""

from pathlib import Path

import pytest

from services.backbone.errors import Refused
from services.gateway.amqp.bindings import SHIPPED_BINDINGS, load_bindings


def test_the_shipped_binding_feeds_a_declared_stream_from_the_known_exchange() -> None:
    (binding,) = load_bindings(SHIPPED_BINDINGS, {"trades"})
    assert (binding.exchange, binding.stream) == ("Aldebaran.Trade_Data", "trades")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bindings: []", "bindings"),
        ("bindings: [{exchange: e, queue: q, stream: nothing}]", "no stream nothing; declared are"),
        ("bindings: [{exchange: e, stream: trades}]", "bindings.0.queue"),
        ("bindings: [{exchange: e, queue: q, stream: trades, kind: x}]", "bindings.0.kind"),
        ("bindings:\n" + 2 * "- {exchange: e, queue: q, stream: trades}\n", "the same queue"),
        ("a: b: c", "bindings.yaml"),
        ("bindings: !!bool maybe", "'maybe' is no bool"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "bindings.yaml"
    path.write_text(text)
    with pytest.raises(Refused) as caught:
        load_bindings(path, {"trades"})
    assert said in str(caught.value)
