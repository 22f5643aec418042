"""Every key of a routes file: what it becomes, and what is refused where."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.contracts.records import Severity
from services.lookout.routes.problems import BadRoutes
from services.lookout.routes.reading import load_routes, read_routes
from services.lookout.routing import Grouping, Instruction, Target, decide
from tests.unit.lookout.samples import NOON, sample

CHANNELS = ("bus", "email", "sms", "push")
FULL = """\
version: 1
times:
  office: [{days: [mon-fri], from: 08:00, to: 18:00, zone: Europe/Paris}]
  night:
    - {from: "22:00", to: "06:00", zone: Europe/Paris}
people:
  ann: {push: ann-phone, sms: "+4915112345678", email: ann@example.com}
  bob:
    email: bob@example.com
templates:
  page: {subject: "{{ alert.watch }}", text: "{{ alert.summary }}"}
escalations:
  nobody-there:
    - after: 5m
      send: [{person: ann, by: [sms]}]
    - after: 15 minutes
      send: [{person: bob}]
      repeat: {every: 10m, times: 3, slower: 2}
inhibit:
  - name: site-down
    when: {watch: site}
    mutes: {watch: "cpu*"}
    equal: [labels.zone]
    for: 30m
silences:
  - name: move
    match: {labels: {zone: north}}
    from: 2026-11-21T20:00:00+01:00
    to: 2026-11-22T06:00:00+01:00
    author: ann
    reason: the racks move
routes:
  - name: hot
    match: {watch: over-heat}
    send:
      - {person: [ann, bob]}
    quiet: {during: night, unless: critical}
    group: {by: [watch, labels.zone], wait: 10s}
    template: page
    escalate: nobody-there
    routes:
      - name: hot-office
        match: {during: office}
        send:
          - channel: email
            to: desk@example.com
            fallback: [{channel: bus, to: desk}]
            template: plain
        quiet: none
        group: none
        escalate: none
        continue: true
      - name: hot-critical
        match: {severity: critical}
default:
  send:
    - {channel: bus, to: notifications}
"""
ANN = (
    Target("push", "ann-phone"),
    Target("sms", "+4915112345678"),
    Target("email", "ann@example.com"),
)


def told(text: str) -> list[tuple[int, str]]:
    with pytest.raises(BadRoutes) as caught:
        read_routes(text, CHANNELS, {})
    return [(problem.line, problem.reason) for problem in caught.value.problems]


def test_a_route_inherits_what_it_does_not_say() -> None:
    routes = read_routes(FULL, CHANNELS, {})
    at_night = datetime(2026, 11, 18, 23, tzinfo=UTC)
    plan = decide(routes, sample(watch="over-heat"), at_night)
    assert plan.routed_by == ("hot-critical",)
    assert plan.escalations == ("nobody-there",)
    ann, bob = plan.instructions
    assert (ann.target, *ann.fallback) == ANN
    assert bob.target == Target("email", "bob@example.com")
    assert ann.template == "page"
    assert ann.grouping == Grouping(("watch", "labels.zone"), 10, 100)
    assert ann.quiet is not None
    assert not ann.quiet_for(Severity.CRITICAL)
    assert ann.quiet_for(Severity.WARNING)
    assert ann.quiet.quiet_until(at_night) == datetime(2026, 11, 19, 5, tzinfo=UTC)
    assert ann.quiet.quiet_until(NOON) is None


def test_a_route_takes_back_what_it_does_not_want() -> None:
    routes = read_routes(FULL, CHANNELS, {})
    plan = decide(routes, sample(watch="over-heat", severity=Severity.INFO), NOON)
    assert plan.routed_by == ("hot-office",)
    assert plan.escalations == ()
    assert plan.instructions == (
        Instruction(
            Target("email", "desk@example.com"),
            "hot-office",
            template="plain",
            fallback=(Target("bus", "desk"),),
        ),
    )


def test_the_node_acts_when_no_route_inside_does() -> None:
    routes = read_routes(FULL, CHANNELS, {})
    weekend = datetime(2026, 11, 21, 12, tzinfo=UTC)
    plan = decide(routes, sample(watch="over-heat", severity=Severity.INFO), weekend)
    assert plan.routed_by == ("hot",)
    assert [(each.route, each.fits, each.depth) for each in plan.considered] == [
        ("hot", True, 0),
        ("hot-office", False, 1),
        ("hot-critical", False, 1),
    ]
    assert plan.considered[1].why == "it is not office now"


def test_rules_and_escalations_are_read() -> None:
    routes = read_routes(FULL, CHANNELS, {})
    first, second = routes.escalations["nobody-there"].steps
    assert (first.after_seconds, first.repeat_every_seconds, first.repeat_times) == (300, None, 0)
    assert [each.target for each in first.instructions] == [ANN[1]]
    assert (second.repeat_every_seconds, second.repeat_times, second.slower) == (600, 3, 2)
    (inhibition,) = routes.inhibitions
    assert inhibition.equal == ("labels.zone",)
    assert inhibition.for_seconds == 1800
    (silence,) = routes.silences
    ends = datetime(2026, 11, 22, 5, tzinfo=UTC)
    assert silence.silent_until(datetime(2026, 11, 21, 19, tzinfo=UTC)) == ends
    assert silence.silent_until(ends) is None
    assert len(routes.version_id) == 16


@pytest.mark.parametrize(
    ("before", "after", "line", "reason"),
    [
        ("[mon-fri]", "[mon-fry]", 3, "'mon-fry' is no day or span of days"),
        ("from: 08:00", "from: 8", 3, "'8' is no time such as 08:00"),
        ("to: 18:00", "to: 08:00", 3, "begins when it ends"),
        ("zone: Europe/Paris}]", "zone: Europe/Pari}]", 3, "did you mean 'Europe/Paris'?"),
        ("zone: Europe/Paris}]", "zone: ../etc}]", 3, "'../etc' is no time zone"),
        ("person: [ann, bob]", "person: [anne, bob]", 36, "unknown person 'anne', did you mean"),
        ("by: [sms]", "by: [smss]", 15, "ann has no smss, did you mean 'sms'?"),
        ("bob@example.com", "bob", 9, "'bob' is no e-mail address"),
        ("after: 15 minutes", "after: 5m", 16, "write more than the step before has (300s)"),
        ("after: 5m", "after: 5", 14, "'5' is not a span of time such as"),
        ("after: 5m", "aftr: 5m", 14, "unknown key 'aftr', did you mean 'after'?"),
        ("for: 30m", "for: 60d", 24, "write a span from 1s to 30d"),
        ("for: 30m", "fro: 30m", 24, "unknown key 'fro', did you mean 'for'?"),
        ("equal: [labels.zone]", "equal: [zone]", 23, "'zone' is none of watch, severity"),
        ("during: night", "during: nite", 37, "unknown time 'nite', did you mean 'night'?"),
        ("during: office", "during: offices", 43, "unknown time 'offices', did you mean"),
        ("template: page", "template: pge", 39, "unknown template 'pge', did you mean 'page'?"),
        ("escalate: nobody-there", "escalate: x", 40, "unknown escalation 'x'; known are"),
        ("from: 2026-11-21T20:00:00+01:00", "from: 2026-11-21T20:00:00", 28, "timezone"),
        ("to: 2026-11-22T06:00:00+01:00", "to: 9999-12-31T23:59:59-01:00", 29, "years 1 to 9999"),
        ("to: 2026-11-22T06", "to: 2026-11-20T06", 26, "'move' ends before it begins"),
        ("    to: 2026-11-22T06:00:00+01:00\n", "", 26, "needs `from` and `to`, or `during`"),
        ("author: ann", "autor: ann", 30, "unknown key 'autor', did you mean 'author'?"),
        ("{during: night, unless: critical}", "{unless: critical}", 37, "either `during` or"),
        ("    - {channel: bus, to: notifications}", "    - {channel: bus}", 57, "write either"),
        ("name: hot-critical", "name: hot", 53, "the name 'hot' is used by a route above"),
        ("match: {severity: critical}", "match: {}\n      - {name: z}", 55, "is never reached"),
        ("      - {person: [ann, bob]}\n", "      - {channel: bus, to: x, by: [x]}\n", 36, "`by`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(
    before: str, after: str, line: int, reason: str
) -> None:
    assert before in FULL
    problems = told(FULL.replace(before, after, 1))
    assert any(at == line and reason in said for at, said in problems), problems


def test_quiet_hours_that_never_end_are_refused() -> None:
    text = FULL.replace('{from: "22:00", to: "06:00", zone: Europe/Paris}', "{zone: UTC}")
    assert told(text) == [(37, "night never ends: nothing would ever be sent")]


def test_a_silence_of_the_whole_week_needs_an_end() -> None:
    always = FULL.replace('{from: "22:00", to: "06:00", zone: Europe/Paris}', "{zone: UTC}")
    always = always.replace("quiet: {during: night, unless: critical}", "continue: false")
    bounded = always.replace("    author: ann", "    during: night\n    author: ann")
    assert read_routes(bounded, CHANNELS, {}).silences[0].ends_at is not None
    endless = bounded.replace("    to: 2026-11-22T06:00:00+01:00\n", "")
    assert told(endless) == [(26, "silence 'move' never ends: give it `to`")]


def test_routes_that_are_nested_too_deep_are_refused() -> None:
    inner = "[{name: r9, match: {watch: w}}]"
    for number in range(8, 0, -1):
        inner = f"[{{name: r{number}, match: {{watch: w}}, routes: {inner}}}]"
    text = f"version: 1\nroutes: {inner}\ndefault: {{send: [{{channel: bus, to: x}}]}}\n"
    assert "routes are nested over 8 deep" in [reason for _, reason in told(text)]


def test_a_route_that_tells_nobody_is_refused() -> None:
    text = FULL.replace("    send:\n      - {person: [ann, bob]}\n", "")
    assert [reason for _, reason in told(text)] == [
        "route 'hot' tells nobody: give it `send`, or a route around it",
        "route 'hot-critical' tells nobody: give it `send`, or a route around it",
    ]


TEMPLATES = """\
version: 1
templates:
  page:
    subject: "{{ alert.watch }}"
    text: |
      {{ alert.summary }}
      {{ alert.labels.zone | default('-') }}
  mail: {file: mail.j2}
  mixed:
    text: "{{ alert.values.a + 1 }}{{ alert.values.b | first }}"
    sample: {values: {a: "1.5", b: [x]}}
default:
  send: [{channel: email, to: desk@example.com, template: mail}]
"""


def folder_told(folder: Path, text: str, mail: str = "{{ alert.summary }}") -> str:
    (folder / "routes.yaml").write_text(text)
    (folder / "mail.j2").write_text(mail)
    with pytest.raises(BadRoutes) as caught:
        load_routes(folder / "routes.yaml", CHANNELS, {})
    return str(caught.value)


def test_templates_are_read_from_the_file_and_from_beside_it(tmp_path: Path) -> None:
    (tmp_path / "routes.yaml").write_text(TEMPLATES)
    (tmp_path / "mail.j2").write_text("one")
    routes = load_routes(tmp_path / "routes.yaml", CHANNELS, {})
    assert routes.templates["mail"].text == "one"
    (tmp_path / "mail.j2").write_text("two")
    changed = load_routes(tmp_path / "routes.yaml", CHANNELS, {})
    assert changed.version_id != routes.version_id


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("{{ alert.watch }}", "{{ alert.watsh }}", "routes.yaml:4: template 'page'"),
        ("| default('-')", "", "routes.yaml:7: template 'page': zone is missing; where it may be"),
        ("{{ alert.summary }}\n", "{{ alert.summary\n", "routes.yaml:7: template 'page': "),
        ("mail.j2", "male.j2", "routes.yaml:8: male.j2 cannot be read: No such file"),
        ("mail.j2", "../mail.j2", "routes.yaml:8: '../mail.j2' must be the name of a file beside"),
        ("mail.j2", "link.j2", "routes.yaml:8: 'link.j2' leads out of the folder"),
        ("{file: mail.j2}", "{}", "routes.yaml:8: write either `text` or `file`"),
        ("b: [x]", "b: 1", "routes.yaml:10: template 'mixed'"),
        ("values: {a", "valves: {a", "routes.yaml:11: unknown key 'valves', did you mean 'values'"),
    ],
)
def test_a_template_that_fails_refuses_the_file_with_the_line(
    before: str, after: str, reason: str, tmp_path: Path
) -> None:
    folder = tmp_path / "routes"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "link.j2").symlink_to(tmp_path / "secret")
    assert before in TEMPLATES
    assert reason in folder_told(folder, TEMPLATES.replace(before, after, 1))


def test_a_template_file_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    reason = folder_told(tmp_path, TEMPLATES, "a\nb\n{{ alert.labels.zone }}\n")
    assert "mail.j2:3: template 'mail': zone is missing" in reason
