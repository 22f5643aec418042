"""The file of bindings says what is wrong before anything starts."""

from pathlib import Path

import pytest
from pamqp.commands import Exchange, Queue

from services.backbone.errors import Refused
from services.gateway.amqp.bindings import SHIPPED_BINDINGS, Binding, load_bindings


def test_the_shipped_binding_feeds_a_declared_stream_from_the_known_exchange() -> None:
    (binding,) = load_bindings(SHIPPED_BINDINGS, {"trades"})
    assert (binding.exchange, binding.stream) == ("Aldebaran.Trade_Data", "trades")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bindings: []", "bindings"),
        (
            "bindings: [{exchange: e, queue: q, stream: nothing}]",
            "bindings.yaml: no stream nothing; declared are trades; "
            "ALDEBARAN_AMQP_BINDINGS_FILE names another file",
        ),
        ("bindings: [{exchange: e, stream: trades}]", "bindings.0.queue"),
        ("bindings: [{exchange: e, queue: q, stream: trades, kind: x}]", "bindings.0.kind"),
        ("bindings:\n" + 2 * "- {exchange: e, queue: q, stream: trades}\n", "the same queue"),
        ("bindings: [{exchange: Börse, queue: q, stream: trades}]", "bindings.0.exchange"),
        (f"bindings: [{{exchange: {'e' * 128}, queue: q, stream: trades}}]", "at most 127"),
        ("bindings: [{exchange: e, queue: 'a(b)', stream: trades}]", "bindings.0.queue"),
        (
            f"bindings: [{{exchange: e, queue: q, stream: trades, routing_keys: [{'ü' * 128}]}}]",
            "bindings.0.routing_keys.0: Value error, it has at most 255 bytes",
        ),
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


def test_the_longest_and_oddest_that_a_binding_may_name_the_client_can_say() -> None:
    signs = "aZ09_.:@#,/+ -"
    exchange, queue, key = signs.ljust(127, "x"), signs.ljust(200, "x"), "ü" * 127
    binding = Binding(exchange=exchange, queue=queue, routing_keys=(key,), stream="trades")
    assert Exchange.Declare(exchange=binding.exchange).marshal()
    assert Queue.Declare(queue=binding.oversized_queue).marshal()
    assert Queue.Bind(queue=queue, exchange=exchange, routing_key=key).marshal()
