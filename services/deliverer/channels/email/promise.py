"""What the e-mail channel promises."""

from typing import Final

from services.deliverer.channel import Promise

PROMISE: Final = Promise(
    recipient="one mail address",
    our_id="`Message-ID`, header `X-Aldebaran-Delivery`",
    taken_when="the relay answers 2xx to the final dot",
    not_taken="anything before the content and its dot; any 4xx; our name, log-in or TLS refused, "
    "530 to the sender: put right, then it goes out",
    permanent="other 5xx to sender, recipient, DATA or content; no plain address",
    in_doubt="connection lost or silence after the dot",
    evidence="own relay: the Message-ID in `email_relay_log`, with the queue id and what the next "
    "server said; not there `email_absence_seconds` after the lease. Foreign relay: none",
    without_faults="once into the relay",
    after_doubt="at most one repeat, marked; or held",
    not_promised="what relays behind the first one do",
)
