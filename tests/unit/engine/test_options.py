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
