"""Nagios: a passive check result for a service or host, to a Nagios on the same machine.

By the result spool, which outlives a restart of Nagios, or by the command file. A recipient is
`host/service`, or `host`. Nagios names no result and drops no repeat, so our id stands in the text:
in its log and status file it is evidence of what was taken.
"""

import asyncio
from contextlib import suppress
from typing import Annotated, Final

from pydantic import Field

from services.backbone.clock import Clock
from services.backbone.settings import read_settings
from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.deliverer.channel import Doubt, Finding, Message, Promise, SendWindow, Traits
from services.deliverer.channels.nagios.command_file import command, put
from services.deliverer.channels.nagios.spool import Spool, Standing, content
from services.deliverer.channels.nagios.witness import NagiosWitness, WitnessSettings
from services.deliverer.channels.nagios.wording import TEXT_LIMIT_BYTES, InfoState, Place, result
from services.deliverer.outcomes import Accepted, Outcome, Permanent, Refused, Unknown

_LOOK_UPS_SECONDS: Final = (0.0, 15.0, 90.0)
"""The spool can be seen at once; Nagios reads it, and writes its status, some ten seconds later."""
_DRAFT_LIFE_SECONDS: Final = 3600.0

PROMISE: Final = Promise(
    recipient="`host/service`, or `host`",
    our_id="at the end of the output's first line; spool: the file's name is made of it",
    taken_when="spool: file and go-ahead are on the disk; command file: the FIFO has the line",
    not_taken="spool: no go-ahead beside the file; command file: nobody reads it, or it is full",
    permanent="no `host/service`; with `nagios_status_file`, a host or service it does not show",
    in_doubt="spool: the disk fails at the go-ahead; both: killed during the write",
    evidence="the spool; the id in `nagios_log_file` or `nagios_status_file`; "
    "a status written later whose last result is older than the try",
    without_faults="one result; spool: also over an outage of Nagios",
    after_doubt="at most one more result, marked; or held",
    not_promised="what Nagios drops (unknown service, passive checks off, downtime, flapping); "
    "command file: what it has read and not yet worked off when it dies",
)


class NagiosSettings(WitnessSettings):
    """Which way, and how severities are shown."""

    nagios_keep_seconds: Annotated[float, Field(ge=0, le=366 * 86_400)] = 7 * 86_400.0
    """How long a result in the spool outlives Nagios' own limit of age while Nagios is away."""
    nagios_unread_limit_seconds: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    """Results unread for so long tell that Nagios is away: nothing is put beside them."""
    nagios_info_state: InfoState = 1
    """0 would tell that all is well, and so would end an earlier alert of the same service."""
    nagios_dedupes: bool = False
    """Whether a repeat does no harm: no service is volatile, each has one source of alerts."""


class NagiosChannel:
    """Hands each delivery over as one check result, and finds it again."""

    def __init__(self, settings: NagiosSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        by_spool = settings.nagios_way == "spool"
        self._spool = Spool(settings.nagios_spool, settings.nagios_keep_seconds)
        self._witness = NagiosWitness(settings, self._spool if by_spool else None, clock)
        self._by_spool = by_spool
        if by_spool:
            with suppress(OSError):  # each send tells of a spool that cannot be used
                self._spool.forget_drafts(clock.now_ms() / 1000 - _DRAFT_LIFE_SECONDS)
        self.traits = Traits(
            name="nagios",
            promise=PROMISE,
            dedupes_by_key=settings.nagios_dedupes,
            repeats=frozenset({Severity.CRITICAL}),
            send_timeout_seconds=10.0,
            look_up_after_seconds=_LOOK_UPS_SECONDS if self._witness.can_look else (),
        )

    async def send(self, message: Message, window: SendWindow) -> Outcome:
        """Hand one result over."""
        recipient = message.delivery.recipient
        if wrong := complaint("nagios", recipient):
            return Permanent(wrong)
        if await asyncio.to_thread(self._witness.misses, Place.of(recipient)):
            return Permanent(f"Nagios has no {recipient!r}: define it, or correct the recipient")
        if self._by_spool:
            return await self._into_spool(message, window)
        told = result(
            message, self._settings.nagios_info_state, self._clock.now_ms(), TEXT_LIMIT_BYTES
        )
        return put(self._settings.nagios_command_file, command(told), window.open)

    async def look_up(self, doubt: Doubt) -> Finding:
        """Look in the spool, in Nagios' log and in its status file."""
        return await self._witness.look_up(doubt)

    def unusable(self) -> str | None:
        """Return None: files are opened anew for each result."""
        return None

    async def close(self) -> None:
        """Nothing is kept open."""

    async def _into_spool(self, message: Message, window: SendWindow) -> Outcome:
        try:
            standing = await asyncio.to_thread(self._prepared, message)
        except OSError as error:
            return Refused(f"the spool cannot be used: {error}", destination_down=True)
        match standing:
            case Standing.WAITING:
                return Accepted("waits in the spool already")
            case Standing.PREPARED:
                return await self._let_go(message.delivery.delivery_id, window)
            case Standing.FOREIGN:
                return Refused("another result has the same file name until Nagios has read it")
            case _:
                return Refused(
                    "Nagios does not read its spool: is it running?", destination_down=True
                )

    def _prepared(self, message: Message) -> Standing:
        """Write the file; NOTHING tells that Nagios seems to be away."""
        now_ms = self._clock.now_ms()
        since = self._spool.oldest_waiting_at()
        limit = self._settings.nagios_unread_limit_seconds
        if since is not None and now_ms / 1000 - since > limit:
            return Standing.NOTHING
        told = result(message, self._settings.nagios_info_state, now_ms, TEXT_LIMIT_BYTES)
        delivery_id = message.delivery.delivery_id
        written = content(told, delivery_id)
        return self._spool.prepare(delivery_id, message.attempt, written, now_ms / 1000)

    async def _let_go(self, delivery_id: str, window: SendWindow) -> Outcome:
        window.open()
        try:
            self._spool.let_go(delivery_id)  # not on a thread: it must not happen later
        except OSError as error:
            return Refused(f"the go-ahead cannot be given: {error}", destination_down=True)
        try:
            await asyncio.to_thread(self._spool.flush)
        except OSError as error:
            return Unknown(f"the go-ahead may not be on the disk: {error}")
        return Accepted()


def open_channel(clock: Clock) -> NagiosChannel:
    """Read the settings and make the channel."""
    return NagiosChannel(read_settings(NagiosSettings), clock)
