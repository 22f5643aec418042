"""Every channel there is; a new one is one file in `channels/` and one line here."""

from typing import Final

from services.deliverer.channel import OpenChannel
from services.deliverer.channels import bus, email, webhook

CHANNELS: Final[dict[str, OpenChannel]] = {
    "bus": bus.open_channel,
    "email": email.open_channel,
    "webhook": webhook.open_channel,
}
