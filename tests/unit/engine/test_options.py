"""What a Kafka client of Spark's is told."""

from pydantic import SecretStr

from engine.options import kafka_client_options


def test_a_client_gives_a_silent_address_up_soon_and_what_is_set_has_the_last_word() -> None:
    longest = "socket.connection.setup.timeout.max.ms"
    told = kafka_client_options("kafka:9092", {"sasl.mechanism": SecretStr("PLAIN")})
    assert told["bootstrap.servers"] == "kafka:9092"
    assert told["sasl.mechanism"] == "PLAIN"
    assert int(told["socket.connection.setup.timeout.ms"]) <= int(told[longest]) < 10_000
    assert kafka_client_options("kafka:9092", {longest: SecretStr("9")})[longest] == "9"


def test_who_leads_is_asked_before_a_lost_leader_is_tried_again() -> None:
    """Both waits vary by a fifth, and the question goes to another broker in between alone."""
    told = kafka_client_options("kafka:9092", {})
    longest_until_asked = int(told["retry.backoff.max.ms"]) * 1.2
    assert longest_until_asked < int(told["reconnect.backoff.ms"]) * 0.8
