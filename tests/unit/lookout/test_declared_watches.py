"""Warnings of routes that name watches and labels: held against those that are declared."""

from pathlib import Path

import pytest

from services.contracts.watches import SHIPPED_WATCHES
from services.lookout.__main__ import main
from services.lookout.routes.lint import Surroundings, lint
from services.lookout.routes.reading import Reading
from services.lookout.routes.source import RoutesSource
from services.lookout.routes.watches import Raised, Watches
from services.lookout.routes.watches_folder import WatchesFolder
from services.lookout.settings import SHIPPED_ROUTES
from tests.unit.lookout.test_lint import CHANNELS, GOOD, NOW, warnings


def test_the_shipped_routes_fit_the_shipped_watches() -> None:
    shipped = Reading((*CHANNELS, "webhook"), {}).checked(RoutesSource(SHIPPED_ROUTES))
    declared = WatchesFolder(SHIPPED_WATCHES, are_all=True).read()
    assert lint(shipped, Surroundings(NOW, (), declared)) == []


def test_watches_are_held_against_those_that_are_declared() -> None:
    assert warnings(GOOD, watches=Watches({"over-heat": Raised(("zone",))})) == []
    assert warnings(GOOD, watches=Watches({"cpu": Raised(), "over-haet": Raised(("zone",))})) == [
        (27, "no declared watch is over-heat, did you mean 'over-haet'?"),
    ]
    assert warnings(GOOD, watches=Watches({"cpu": Raised()})) == [
        (20, "no declared watch is over-*"),
        (27, "no declared watch is over-heat"),
    ]


def test_a_label_that_no_alert_of_the_watches_has_is_told_where_it_stands() -> None:
    mixed = Watches({"over-heat": Raised(), "over-load": Raised(("zone",))})
    assert warnings(GOOD, watches=mixed) == [
        (27, "no alert of over-heat has label zone; none is declared"),
    ]
    assert warnings(GOOD, watches=Watches({"over-heat": Raised(("zones", "hall"))})) == [
        (20, "no alert of over-* has label zone, did you mean 'zones'?"),
        (27, "no alert of over-heat has label zone, did you mean 'zones'?"),
    ]
    any_watch = GOOD.replace('watch: "over-*", ', "").replace("watch: over-heat, ", "")
    assert warnings(any_watch, watches=Watches({"cpu": Raised(("zone",))})) == []
    assert warnings(any_watch, watches=Watches({"cpu": Raised()}, are_all=False)) == []
    assert warnings(any_watch, watches=Watches({"cpu": Raised()})) == [
        (20, "no declared watch has label zone; none is declared"),
        (27, "no declared watch has label zone; none is declared"),
    ]


@pytest.mark.parametrize(
    "match",
    [
        "{watch: test-send, labels: {asked_by: ann}}",
        '{watch: "test*", labels: {asked_by: ann}}',
        "{watch: accountant}",
    ],
)
def test_alerts_that_no_watch_raises_are_not_warned_of(match: str) -> None:
    text = GOOD.replace("move, match: {}", f"move, match: {match}")
    assert warnings(text, watches=Watches({"over-heat": Raised(("zone",))})) == []


def routed(match: str, watches: Watches) -> list[str]:
    """Return what is said of one route with these conditions."""
    text = f"version: 1\nroutes: [{{name: one, match: {match}, send: [{TO}]}}]\n"
    return [said for _, said in warnings(text + f"default: {{send: [{TO}]}}\n", watches=watches)]


TO = "{channel: bus, to: notifications}"


@pytest.mark.parametrize(
    ("match", "meant"),
    [
        ("{watch: over-purchse}", "over-purchase"),
        ("{watch: over-purhcase}", "over-purchase"),
        ("{watch: over-purchase, labels: {cleint: x}}", "client"),
        ("{watch: over-heat}", ""),
        ("{watch: over-purchase-of-stock}", ""),
        ("{watch: 'under-*'}", ""),
        ("{watch: over-purchase, labels: {desk: x}}", ""),
        ("{watch: 'over-*', labels: {cleint: x}}", ""),
    ],
)
def test_where_other_watches_may_run_only_a_slip_is_told(match: str, meant: str) -> None:
    """The shipped ones are all that is known where nobody says where the watches are."""
    declared = {"over-purchase": Raised(("client", "stock"))}
    assert len(routed(match, Watches(declared))) == 1
    said = routed(match, Watches(declared, are_all=False))
    assert [each.endswith(f", did you mean '{meant}'?") for each in said] == [True] * bool(meant)


def test_check_holds_a_file_against_the_shipped_watches_or_the_folder_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "routes.yaml"
    file.write_text(SHIPPED_ROUTES.read_text().replace("watch: over-p", "watch: over-heat-p"))
    assert main(["check", "--strict", str(file)]) == 0
    monkeypatch.setenv("ALDEBARAN_WATCHES_DIR", str(SHIPPED_WATCHES))
    capsys.readouterr()
    assert main(["check", "--strict", str(file)]) == 1
    assert "no declared watch is over-heat-purchase" in capsys.readouterr().out
    monkeypatch.delenv("ALDEBARAN_WATCHES_DIR")
    file.write_text(SHIPPED_ROUTES.read_text().replace("watch: over-p", "watch: over-b"))
    assert main(["check", str(file)]) == 0
    assert "did you mean 'over-purchase'?" in capsys.readouterr().out
    monkeypatch.setenv("ALDEBARAN_WATCHES_DIR", str(tmp_path / "nowhere"))
    assert main(["check", str(file)]) == 1
    assert "has no *.yaml file" in capsys.readouterr().err
