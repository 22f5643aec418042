"""A routes file that is wrong says where and why; the shipped one is right."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.recipients import complaint
from services.contracts.records import Severity
from services.lookout.routes.problems import BadRoutes, Problem
from services.lookout.routes.reading import load_routes, read_routes
from services.lookout.routing import Target, decide
from services.lookout.settings import SHIPPED_ROUTES, LookoutSettings
from tests.unit.lookout.samples import NOON, sample

CHANNELS = ("bus", "webhook", "email")
GOOD = """\
version: 1
variables:
  desk: desk@example.com
routes:
  - name: hot
    match:
      watch: [over-heat, cpu*]
      severity: {at_least: warning}
      labels:
        zone: north
        rack: ["1", "2?"]
    send:
      - channel: email
        to: ["${desk}", night@example.com]
    continue: true
  - name: all-critical
    match: {severity: critical}
    send:
      - {channel: webhook, to: http://127.0.0.1:9/hook}
      - {channel: email, to: "${desk}"}
default:
  send:
    - {channel: bus, to: notifications}
"""


def told(text: str, **variables: str) -> list[tuple[int, str]]:
    with pytest.raises(BadRoutes) as caught:
        read_routes(text, CHANNELS, variables)
    return [(problem.line, problem.reason) for problem in caught.value.problems]


def changed(before: str, after: str) -> str:
    assert before in GOOD
    return GOOD.replace(before, after, 1)


def test_a_good_file_routes() -> None:
    routes = read_routes(GOOD, CHANNELS, {"desk": "new@example.com"})
    hot = sample(watch="cpu-load", labels={"zone": "north", "rack": "21"})
    decision = decide(routes, hot, NOON)
    assert decision.routed_by == ("hot", "all-critical")
    assert decision.targets == (
        Target("email", "new@example.com"),
        Target("email", "night@example.com"),
        Target("webhook", "http://127.0.0.1:9/hook"),
    )
    calm = sample(severity=Severity.INFO)
    assert decide(routes, calm, NOON).targets == (Target("bus", "notifications"),)


def test_the_shipped_file_is_good_and_tells_everybody() -> None:
    settings = LookoutSettings()
    routes = load_routes(SHIPPED_ROUTES, settings.channels, settings.routes_variables)
    alert = sample(watch="over-purchase")
    assert [each.channel for each in decide(routes, alert, NOON).targets] == [
        "bus",
        "webhook",
        "email",
    ]


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("channel: email", "channel: emial", 13, "unknown channel 'emial', did you mean 'email'?"),
        ("channel: email", "channel: pager", 13, "unknown channel 'pager'; known are bus, email"),
        ('["${desk}", night@example.com]', "[]", 14, "at least 1 item"),
        ('["${desk}", night@example.com]', "['']", 14, "a recipient must not be empty"),
        ('["${desk}", night@example.com]', "[night]", 14, "'night' is no e-mail address"),
        ("${desk}", "${dsk}", 14, "variable 'dsk' is not declared, did you mean 'desk'?"),
        ("http://127.0.0.1:9/hook", "ftp://x/y", 19, "neither an http(s) address nor the name"),
        ("http://127.0.0.1:9/hook", "http://u:p@x/y", 19, "must not carry a password"),
        ("to: notifications", "to: alerts", 23, "topic alerts is Aldebaran's own"),
        ("to: notifications", 'to: "no topic"', 23, "'no topic' is no topic name"),
        ("match:", "mach:", 6, "unknown key 'mach', did you mean 'match'?"),
        ("      watch:", "      wach:", 7, "unknown key 'wach', did you mean 'watch'?"),
        ("version: 1", "version: 2", 1, "version: Input should be less than or equal to 1"),
        ("{at_least: warning}", "{at_least: loud}", 8, "at_least: info, warning or critical"),
        ("severity: critical", "severity: loud", 17, "'info', 'warning' or 'critical'"),
        ("name: all-critical", "name: hot", 16, "the name 'hot' is used by a route above"),
        ("name: all-critical", "name: default", 16, "the name 'default' is reserved"),
        ("continue: true", "continue: perhaps", 15, "valid boolean"),
        ("        zone: north", "        zone: north\n        zone: x", 11, "zone is given twice"),
        ("variables:\n", "variables: [\n", 4, "expected ',' or ']'"),
        ("default:", "defaults:", 21, "unknown key 'defaults', did you mean 'default'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    before: str, after: str, line: int, reason: str
) -> None:
    problems = told(changed(before, after))
    assert any(at == line and reason in said for at, said in problems), problems


def test_everything_wrong_is_told_at_once_in_sequence() -> None:
    text = changed("channel: email", "channel: x").replace("to: notifications", "to: alerts")
    assert [line for line, _ in told(text)] == [13, 23]


def test_the_default_is_required() -> None:
    assert told(GOOD.partition("default:")[0]) == [
        (1, "default is missing (who is told of an alert that no route is for)")
    ]


@pytest.mark.parametrize("match", ["{}", '{watch: "*"}', "{severity: {at_least: info}}"])
def test_a_route_after_one_that_takes_all_is_never_reached(match: str) -> None:
    text = changed("    match: {severity: critical}", f"    match: {match}").replace(
        "default:", "  - {name: late, send: [{channel: bus, to: x}]}\ndefault:"
    )
    reason = "route 'late' is never reached: 'all-critical' above takes all its alerts and does"
    assert told(text) == [(21, f"{reason} not continue")]


def test_too_many_recipients_are_refused() -> None:
    many = ", ".join(f"n{number}@example.com" for number in range(101))
    assert told(changed("night@example.com", many))[0][0] == 14
    sends = "\n".join(
        f"  - {{name: r{n}, match: {{watch: w{n}}}, send: [{{channel: email, to: ["
        + ", ".join(f"n{n}-{i}@example.com" for i in range(100))
        + "]}]}"
        for n in range(11)
    )
    problems = told(GOOD.replace("default:", sends + "\ndefault:"))
    assert problems == [(4, "over 1000 different recipients in one file")]


def test_settings_add_variables_and_replace_declared_ones() -> None:
    text = changed("night@example.com", "'${night}'")
    given = {"night": "n@example.com", "desk": "d@example.com", "unused": "x"}
    (hot, _) = read_routes(text, CHANNELS, given).roots
    assert [each.target.recipient for each in hot.instructions] == [
        "d@example.com",
        "n@example.com",
    ]


def test_an_alias_bomb_and_an_endless_alias_end() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    for text in (bomb, "a: &a [*a]"):
        ((_, reason),) = told(text)
        assert "nested over" in reason


@pytest.mark.parametrize("nested", ["[" * 5000 + "]" * 5000, "{a: " * 5000 + "}" * 5000])
def test_a_text_that_is_nested_deeper_than_any_parser_goes_is_refused(nested: str) -> None:
    assert told(f"version: 1\nroutes: {nested}\n") == [(1, "nested over 32 deep")]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRoutes, match=r"none\.yaml:1: cannot be read"):
        load_routes(tmp_path / "none.yaml", CHANNELS, {})


@given(st.text() | st.text("-{}[]:,&*!|>'\"%@#? \nabc", max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(BadRoutes):
        read_routes(text, CHANNELS, {})


@given(st.integers(0, len(GOOD) - 1), st.text("-{}[]:,&*!\n ax0", max_size=3))
def test_a_damaged_file_is_read_or_refused_with_a_line(at: int, instead: str) -> None:
    text = GOOD[:at] + instead + GOOD[at + 1 :]
    problems: list[Problem] = []
    try:
        read_routes(text, CHANNELS, {})
    except BadRoutes as error:
        problems = error.problems
    assert all(1 <= each.line <= text.count("\n") + 1 for each in problems)


@pytest.mark.parametrize(
    ("channel", "recipient"),
    [
        ("email", "a.b+c@mail.example.com"),
        ("email", "desk@aldebaran.local"),
        ("webhook", "https://hooks.example.com:8443/a?b=c"),
        ("webhook", "night-desk"),
        ("bus", "notifications"),
        ("sms", "+41791234567"),
        ("sms", "+123456789012345"),
        ("pager", "anything goes"),
    ],
)
def test_recipients_that_can_be_used(channel: str, recipient: str) -> None:
    assert complaint(channel, recipient) is None


@pytest.mark.parametrize(
    ("channel", "recipient"),
    [
        ("email", "a@b\nBcc: c@d"),
        ("email", "a@b, c@d"),
        ("email", "@b"),
        ("webhook", "http://"),
        ("webhook", "http://host:99999/"),
        ("webhook", "http://[::1/"),
        ("webhook", "http://a b/"),
        ("bus", "deliveries.email"),
        ("bus", ".."),
        ("sms", "0791234567"),
        ("sms", "+0791234567"),
        ("sms", "+41 79 123 45 67"),
        ("sms", "+1234567890123456"),
        ("sms", "+\u0664\u0661791234567"),
        ("pager", "x" * 513),
        ("pager", "\0"),
    ],
)
def test_recipients_that_cannot_be_used(channel: str, recipient: str) -> None:
    assert complaint(channel, recipient)
