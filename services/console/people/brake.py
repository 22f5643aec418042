"""Who fails to log in waits before the next try, whichever way it is made."""

import threading
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Final

from services.backbone.clock import Clock
from services.backbone.web.problems import Problem
from services.console.people.throttle import Caller, Throttle

NAME_LIMIT_SECONDS: Final = 30.0
"""A name's longest wait for failures from anywhere: strangers must not keep its owner out."""


@dataclass
class Brake:
    """Remembers failures of names and addresses; safe to use from several threads."""

    clock: Clock
    throttle: Throttle = field(default_factory=Throttle)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, callers: tuple[Caller, ...]) -> None:
        """Refuse who has to wait.

        Raises:
            Problem: 429.
        """
        now = self.clock.monotonic_seconds()
        with self._lock:
            wait = max(self.throttle.wait_seconds(each, now) for each in callers)
        if wait > 0:
            seconds = int(wait) + 1
            detail = f"too many failures; try again in {seconds} s"
            raise Problem(429, "slow_down", detail, {"Retry-After": str(seconds)})

    def failed(self, callers: tuple[Caller, ...]) -> None:
        """Note a failure."""
        now = self.clock.monotonic_seconds()
        with self._lock:
            for each in callers:
                self.throttle.failed(each, now)

    def succeeded(self, callers: tuple[Caller, ...]) -> None:
        """Forget the failures of those who are known now."""
        with self._lock:
            for each in callers:
                self.throttle.succeeded(each)


def by_address(address: str) -> tuple[Caller, ...]:
    """Return as whom somebody's failures count of whom only the address is known."""
    return (Caller(f"address {address}"),)


def by_name(name: str, address: str) -> tuple[Caller, ...]:
    """Return as whom the failures of a name count that comes from an address."""
    here = Caller(f"name {name} from {_network(address)}")
    return (Caller(f"name {name}", NAME_LIMIT_SECONDS), here, *by_address(address))


def _network(address: str) -> str:
    """Return what one owner mostly has whole; what is no address stands for itself."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    # A socket of both kinds tells of IPv4 within IPv6, where one /64 would hold all of it.
    own = getattr(found, "ipv4_mapped", None) or found
    return str(ip_network((own.packed, 24 if own.version == 4 else 64), strict=False))
