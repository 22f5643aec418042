"""Settings of one machine: folders, ports, memory."""

import shlex
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo

from services.backbone.settings import CHANNELS_MAX, PREFIX, ChannelsSettings, Port
from services.machine.memory import PAIR, how_many_fit

PORT_PREFIX = "port_"
DELIVERERS_PREFIX = "port_deliverer"
DELIVERER_PREFIX = "port_deliverer_"
DELIVERERS_PORT = "port_deliverers"
MIRRORS_PORT = "port_mirrors"
MIRROR: Final = "-mirror"
"""Ends the name of a mirror."""
PORT_MAX = 65_535


def odd(nodes: int) -> int:
    """Refuse two nodes: they are lost with either of them."""
    if nodes == 2:
        raise ValueError("one or three nodes: of two, none could be missing")
    return nodes


def whole(dials: str) -> str:
    """Refuse a command line with a quote that is not closed."""
    shlex.split(dials)
    return dials


def apart(deliverers: int, told: ValidationInfo) -> int:
    """Refuse mirrors where a channel's deliverer would be called as another's mirror is."""
    channels: tuple[str, ...] = told.data.get("channels", ())
    if deliverers > 1 and (mirrors := {each + MIRROR for each in channels}.intersection(channels)):
        raise ValueError(
            f"no channel may be named {', '.join(sorted(mirrors))}, as the mirror of another's"
            " deliverer is: give it another name, or set this to 1"
        )
    return deliverers


class MachineSettings(ChannelsSettings):
    """What `make run` can be told; every port is `ALDEBARAN_PORT_<WHAT>`."""

    home: Path = Path(".aldebaran")
    """The folder of all state."""
    tools: Path = Path(".tools")
    """The folder of the Python environment and the jars; no state."""
    kafka_nodes: Annotated[int, Field(ge=1, le=3), AfterValidator(odd)] = 1
    """Brokers; with three, every topic has three copies and any one of them may die."""
    kafka_heap_mebibytes: Annotated[int, Field(ge=128, le=32_768)] = 384
    """Heap of each broker."""
    auditors: Annotated[int, Field(ge=1, le=PAIR)] = Field(default_factory=how_many_fit)
    """How many auditors watch side by side; two where the machine has memory for them."""
    auditors_apart: bool = True
    """Whether each of two auditors keeps to its own half of the processors; Linux only."""
    lookouts: Annotated[int, Field(ge=1, le=PAIR)] = Field(default_factory=how_many_fit)
    """How many lookouts read every alert, so that none waits for one that is dead; likewise."""
    deliverers: Annotated[int, Field(ge=1, le=PAIR), AfterValidator(apart)] = Field(
        default_factory=how_many_fit, validate_default=True
    )
    """How many deliverers of each channel read every delivery, so that none waits for one that is
    dead; likewise."""
    archivist: bool = True
    """Whether the archivist runs; without it about 500 MiB less are needed."""
    amqp: bool = False
    """Whether events also come in from the RabbitMQ server that `ALDEBARAN_AMQP_URL` names."""
    accountant: bool = True
    """Whether the accountant compares what was found with what was delivered."""
    callbacks: bool = True
    """Whether the door for providers' callbacks and links to acknowledge is open."""
    rehearsal: bool = True
    """Whether people can try watches over recent events before they go live."""
    simulator_dials: Annotated[str, AfterValidator(whole)] = (
        "--rate 1 --over-share 0.5 --purchases-per-request 3"
    )
    """Command line of the simulator, empty for none; see `python -m services.simulator --help`."""

    port_kafka: Port = 19092
    port_kafka_controller: Port = 19093
    port_kafka_2: Port = 19094
    port_kafka_2_controller: Port = 19095
    port_kafka_3: Port = 19096
    port_kafka_3_controller: Port = 19097
    port_postgres: Port = 15432
    port_amqp: Port = 18092
    port_console: Port = 18080
    port_gateway: Port = 18081
    port_auditor: Port = 18082
    port_auditor_b: Port = 18096
    port_lookout: Port = 18083
    port_lookout_mirror: Port = 18079
    port_heartbeat: Port = 18084
    port_deliverer_bus: Port = 18085
    port_deliverer_webhook: Port = 18086
    port_deliverer_email: Port = 18087
    port_deliverer_rabbitmq: Port = 18101
    port_deliverer_nagios: Port = 18102
    port_deliverer_nrdp: Port = 18103
    port_deliverer_log: Port = 18104
    port_deliverer_sms: Port = 18105
    port_deliverer_push: Port = 18106
    port_deliverer_pagerduty: Port = 18107
    port_deliverer_slack: Port = 18108
    port_deliverers: Annotated[int, Field(ge=1, le=PORT_MAX - CHANNELS_MAX + 1)] = 18110
    """The first of as many as there are channels; for those that have no port above."""
    port_mirrors: Annotated[int, Field(ge=1, le=PORT_MAX - CHANNELS_MAX + 1)] = 18200
    """The first of as many as there are channels; for the second deliverer of each."""
    port_callbacks: Port = 18093
    port_callbacks_public: Port = 18094
    port_accountant: Port = 18095
    port_simulator: Port = 18088
    port_rehearsal: Port = 18109
    port_inbox: Port = 18089
    port_inbox_hook: Port = 18090
    port_archivist: Port = 18091
    port_inbox_smtp: Port = 18025
    port_inbox_apns: Port = 18100
    port_rabbitmq: Port = 18097
    port_rabbitmq_nodes: Port = 18098
    port_rabbitmq_names: Port = 18099

    def deliverer_port(self, channel: str) -> int:
        """Return the port of a channel's deliverer."""
        own: int | None = getattr(self, DELIVERER_PREFIX + channel, None)
        return own or self.port_deliverers + self.channels.index(channel)

    def deliverer_ports(self, channel: str) -> tuple[int, ...]:
        """Return the port of a channel's deliverer, and that of its mirror, where it has one."""
        both = (self.deliverer_port(channel), self.port_mirrors + self.channels.index(channel))
        return both[: self.deliverers]

    @property
    def lookout_ports(self) -> tuple[int, ...]:
        """The port of the lookout, and that of its mirror, where it has one."""
        return (self.port_lookout, self.port_lookout_mirror)[: self.lookouts]

    def ports(self, taken_over: Collection[str] = ()) -> dict[str, int]:
        """Return every port that will be bound, by the name of the setting that changes it.

        What plays the far end of a channel that the user has `taken_over` does not run.
        """
        played = self.model_copy(
            update={"channels": tuple(each for each in self.channels if each not in taken_over)}
        )
        used = [name for name in type(self).model_fields if _is_used(name, played)]
        own = {PREFIX + name.upper(): getattr(self, name) for name in used}
        for channel in self.channels:
            own |= zip(self._port_settings(channel), self.deliverer_ports(channel), strict=False)
        return own

    def _port_settings(self, channel: str) -> tuple[str, str]:
        """Return what names the port of a channel's deliverer, and that of its mirror."""
        own = DELIVERER_PREFIX + channel
        first = own if own in type(self).model_fields else DELIVERERS_PORT
        of_channel = f" (channel {channel})"
        named = PREFIX + first.upper() + ("" if first == own else of_channel)
        return named, PREFIX + MIRRORS_PORT.upper() + of_channel


def _three_nodes(at: MachineSettings) -> bool:
    return at.kafka_nodes > 1


def _own_rabbitmq(at: MachineSettings) -> bool:
    return "rabbitmq" in at.channels


_USED_WHERE: Final[Mapping[str, Callable[[MachineSettings], bool]]] = {
    "port_kafka_2": _three_nodes,
    "port_kafka_2_controller": _three_nodes,
    "port_kafka_3": _three_nodes,
    "port_kafka_3_controller": _three_nodes,
    "port_amqp": lambda at: at.amqp,
    "port_auditor_b": lambda at: at.auditors == PAIR,
    "port_lookout_mirror": lambda at: at.lookouts == PAIR,
    "port_callbacks": lambda at: at.callbacks,
    "port_callbacks_public": lambda at: at.callbacks,
    "port_accountant": lambda at: at.accountant,
    "port_simulator": lambda at: bool(at.simulator_dials),
    "port_rehearsal": lambda at: at.rehearsal,
    "port_archivist": lambda at: at.archivist,
    "port_inbox_apns": lambda at: "push" in at.channels,
    "port_rabbitmq": _own_rabbitmq,
    "port_rabbitmq_nodes": _own_rabbitmq,
    "port_rabbitmq_names": _own_rabbitmq,
}
"""Ports that are not always bound; those of deliverers go by channels."""


def _is_used(name: str, at: MachineSettings) -> bool:
    if not name.startswith(PORT_PREFIX) or name.startswith((DELIVERERS_PREFIX, MIRRORS_PORT)):
        return False
    return name not in _USED_WHERE or _USED_WHERE[name](at)
