"""Looking up where programs are never waits for a name server."""

from threading import Event

from services.console.parts.names import Names, addresses
from services.machine.waiting import wait_until

PARTS = {"gateway": "http://gateway:8080", "lookout": "http://lookout:8081"}


class NameServers:
    """Names that lead somewhere, until the servers are away."""

    def __init__(self) -> None:
        self.known = {"gateway": ["10.0.0.1", "10.0.0.2"], "lookout": ["::1"]}
        self.silent, self.back = set[str](), Event()
        self.asked: list[str] = []
        self.trouble: OSError | None = None

    def ask(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host in self.silent:
            self.back.wait(30)
        if self.trouble:
            raise self.trouble
        return self.known[host]


def test_a_silent_name_server_holds_up_nothing() -> None:
    servers = NameServers()
    before = Names(servers.ask, seconds=30).targets(PARTS)
    assert [each.url for each in before] == [
        "http://10.0.0.1:8080", "http://10.0.0.2:8080", "http://[::1]:8081",
    ]  # fmt: skip
    assert {each.host for each in before} == {"gateway:8080", "lookout:8081"}
    names = Names(servers.ask, seconds=0.01)
    servers.silent = {"gateway"}
    wait_until(lambda: bool(names.targets(PARTS)[-1].host), 30, "the lookout is not found")
    found = names.targets(PARTS)
    assert [(each.url, each.host) for each in found] == [
        ("http://gateway:8080", ""), ("http://[::1]:8081", "lookout:8081"),
    ]  # fmt: skip
    assert servers.asked.count("gateway") == 2, "it is asked again while it is silent"
    servers.back.set()
    wait_until(lambda: names.targets(PARTS) == before, 30, "the gateway is not found")


def test_addresses_of_before_stay_while_no_name_server_answers() -> None:
    servers = NameServers()
    names = Names(servers.ask, seconds=30)
    before = names.targets(PARTS)
    servers.trouble = OSError("temporary failure in name resolution")
    assert names.targets(PARTS) == before
    assert [each.host for each in Names(servers.ask, seconds=30).targets(PARTS)] == ["", ""]


def test_a_name_that_cannot_be_one_has_no_address() -> None:
    assert addresses("gateway..svc", 80) == []
    assert addresses("127.0.0.1", 80) == ["127.0.0.1"]
