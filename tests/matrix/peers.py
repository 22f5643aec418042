"""All far ends, by the names that the report has for them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

from tests.matrix import buses, files, played, rabbit, relays
from tests.matrix.peer import CellSurroundings, OpenPeer, Peer

PEERS: dict[str, OpenPeer] = {
    "bus": buses.foreign,
    "email": played.email,
    "log": files.log,
    "nagios": partial(files.nagios, "spool"),
    "nrdp": played.nrdp,
    "pagerduty": played.pagerduty,
    "push": played.push,
    "rabbitmq": rabbit.rabbitmq,
    "slack": played.slack,
    "sms": played.sms,
    "webhook": played.webhook,
}
"""One by channel; one that is missing here fails the matrix."""
FAR_ENDS: dict[str, Callable[[CellSurroundings], AbstractContextManager[Peer]]] = {
    **PEERS,
    "bus, our cluster": buses.ours,
    "email, own relay": relays.own_relay,
    "nagios, command file": partial(files.nagios, "command"),
    "sms, called back": played.sms_called_back,
}
"""Those, and the further ways of some channels, which only the matrix plays."""
