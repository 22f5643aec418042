"""What the AMQP on-ramp refuses at its start."""

import pytest
from pydantic import ValidationError

from services.contracts.records import describe
from services.gateway.amqp.settings import AmqpSettings


@pytest.mark.parametrize(
    "address",
    [
        "rabbitmq://user:hunter2@rabbit/",
        "user:hunter2@rabbit",
        "amqp://user:hunter2@/",
        "amqp://user:hunter2@rabbit:hunter2/",
        "amqp://user:hunter2@[rabbit/",
    ],
)
def test_an_address_that_is_none_of_rabbitmq_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ValidationError) as refused:
        AmqpSettings.model_validate({"amqp_url": address})
    said = describe(refused.value)
    assert "amqp_url" in said
    assert "must look like amqps://" in said
    assert "hunter2" not in said
