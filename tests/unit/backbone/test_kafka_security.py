"""What a Kafka client is told to prove itself."""

from itertools import product
from typing import get_args

import pytest
from pydantic import SecretStr

from services.backbone.kafka.producer import Producer, ProducerSettings
from services.backbone.kafka.security import Mechanism, Protocol, Security


@pytest.mark.parametrize(
    ("protocol", "mechanism"), list(product(get_args(Protocol), get_args(Mechanism)))
)
def test_the_client_takes_every_way_in(protocol: Protocol, mechanism: Mechanism) -> None:
    security = Security(protocol, mechanism, "user", SecretStr("very-secret-1234"))
    assert security.complaint() is None
    Producer(ProducerSettings(), "test", security).close(0)


def test_without_tls_or_a_user_nothing_of_it_is_told() -> None:
    assert Security().config() == {"security.protocol": "plaintext"}
    assert set(Security("ssl", ca_file="ca.pem").config()) == {
        "security.protocol",
        "ssl.ca.location",
    }


def test_what_is_missing_is_named() -> None:
    assert "user name" in str(Security("sasl_ssl").complaint())
    assert "key" in str(Security("ssl", certificate_file="us.pem").complaint())
