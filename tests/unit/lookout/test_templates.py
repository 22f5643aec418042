"""Templates in their sandbox: what they make, what they must not say, and that they always end."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.contracts.records import Alert, Delivery, Severity
from services.lookout.routing import Template
from services.lookout.templates.messages import Occasion, message_of, write
from services.lookout.templates.rendering import Links, render
from services.lookout.templates.sandbox import Broken
from services.lookout.templates.trials import Failure, try_out
from tests.unit.lookout.samples import sample
from tests.unit.lookout.test_rendering import ANY_ALERT, TEXT

LINKS = Links("https://example.com/a/1")
ALERT = sample(
    7,
    watch="over-heat",
    summary="rack 7 is too hot",
    labels={"zone": "north", "rack": None, "bay": "", "items": "12"},
    values={"celsius": 91.456, "limit": 80, "racks": ["r1", "r2"], "share": 0.25},
    event_ids=["e1", "e2"],
)


def made(text: str, alert: Alert = ALERT) -> str:
    return message_of(Template("t", "", text), Occasion(alert, "hot", LINKS)).text


def broken(text: str, alert: Alert = ALERT) -> tuple[int, str]:
    with pytest.raises(Broken) as caught:
        made(text, alert)
    return caught.value.line, caught.value.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ alert.watch }} {{ alert.key.id }} {{ route }}", "over-heat 7 hot"),
        ("{{ alert.severity | upper }}: {{ alert.summary | short(6) }}", "CRITICAL: rack …"),
        ("{{ alert.values.celsius | number(1) }} > {{ alert.values.limit }}", "91.5 > 80"),
        ("{{ (alert.values.celsius - alert.values.limit) | round(1) }} over", "11.5 over"),
        ("{{ 1234567.891 | number(2, '.', ',') }}", "1.234.567,89"),
        (f"{{{{ {2**53 + 1} | number(0) }}}}", "9,007,199,254,740,993"),
        (f"{{{{ {-(2**53) - 1} | number(1, '.', ',') }}}}", "-9.007.199.254.740.993,0"),
        ("{{ true | number }} {{ '2.5' | number(1) }}", "1.00 2.5"),
        ("{{ alert.values.share | percent(0) }}", "25%"),
        ("{{ alert.labels.rack | default('no rack') }}", "no rack"),
        ("{{ alert.rule | default('no rule') }}", "no rule"),
        ("bay {{ alert.labels.bay | default('-') }}", "bay -"),
        ("{{ alert.labels.items }} {{ alert.labels['zone'] }}", "12 north"),
        ("{% if alert.labels.rack is defined %}a{% else %}b{% endif %}", "b"),
        ("{% for r in alert.values.racks %}{{ loop.index }}:{{ r }} {% endfor %}", "1:r1 2:r2"),
        ("{% for n, v in alert.labels | items %}{{ n ~ '=' ~ v }};{% endfor %}",
         "zone=north;items=12;"),
        ("{{ alert.event_ids | join(', ') }} ({{ alert.events }})", "e1, e2 (2)"),
        ("{{ alert.detected_at | local('Europe/Paris', '%H:%M') }}", "10:30"),
        ("{{ alert.detected_at | local }}", "2026-11-21 09:30:00 UTC"),
        ("{{ links.acknowledge }}{{ links.alert }}", "https://example.com/a/1"),
        ("a\n{% if true %}\nb\n{% endif %}\nc", "a\nb\nc"),
        ("a\x07b\x1b[31m", "a b [31m"),
        ("<{{ alert.watch }}> & co", "<over-heat> & co"),
        ("{{ [3, 1, 2] | sort | join('<') }} {{ range(3) | sum }}", "1<2<3 3"),
    ],
)  # fmt: skip
def test_what_templates_make(text: str, expected: str) -> None:
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a\n{{ alert.labels.rack }}", 2, "rack is missing; where it may be, write | default"),
        ("{{ alrt.watch }}", 1, "'alrt' is undefined"),
        ("{{ alert.rule }}", 1, "an alert has no rule, only alert_id, watch, severity, summary,"),
        ("{{ alert.rule }}", 1, "the rule's text in values.rule"),
        ("{{ links.page }}", 1, "links have no page, only acknowledge, alert"),
        ("\n\n{{ alert.watch", 3, "unexpected end of template"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", 1, "macro is not allowed"),
        ("{% include 'x' %}", 1, "include is not allowed"),
        ("{% import 'x' as y %}", 1, "import is not allowed"),
        ("{% extends 'x' %}", 1, "extends is not allowed"),
        ("{% set x %}{{ alert.watch }}{% endset %}", 1, "assignblock is not allowed"),
        ("{% for x in alert.labels recursive %}{{ loop(x) }}{% endfor %}", 1, "recursive"),
        ("{{ alert.labels.items() }}", 1, "write | items instead of .items()"),
        ("{{ ''.__class__.__mro__ }}", 1, "__class__ is missing"),
        ("{{ alert.__class__ }}", 1, "an alert has no __class__"),
        ("{{ links.__class__ }}", 1, "links have no __class__"),
        ("{{ alert['__class__'] }}", 1, "__class__ is missing"),
        ("{{ self }}", 1, "self is no variable"),
        ("{{ _budget }}", 1, "_budget is no variable"),
        ("{{ 2 ** 3 }}", 1, "pow is not allowed"),
        ("{{ cycler('a') }}", 1, "nothing can be called"),
        ("{{ namespace(a=1) }}", 1, "nothing can be called"),
        ("{{ [alert.watch] }}", 1, "a list may hold constants only"),
        ("{{ alert.watch | center(99) }}", 1, "No filter named 'center'"),
        ("{{ alert.watch | attr('upper') }}", 1, "No filter named 'attr'"),
        ("{{ 1 is divisibleby(0) }}", 1, "No test named 'divisibleby'"),
        ("{{ alert.watch * 3 }}", 1, "str is no number"),
        ("{{ alert.values.racks + alert.values.racks }}", 1, "list is no number"),
        ("{{ '%9999999d' % 1 }}", 1, "str is no number"),
        ("{{ alert.detected_at | local('Mars/Base') }}", 1, "Mars/Base"),
        ("{{ alert.detected_at | local('../../etc/passwd') }}", 1, "etc/passwd"),
        ("{{ alert.detected_at | local('UTC', '%999999999Y') }}", 1, "no widths"),
        ("{{ 1 | number(99) }}", 1, "digits is from 0 to 12"),
        ("{{ 1 / 0 }}", 1, "division by zero"),
        ("  {% if false %}x{% endif %}  ", 1, "the text is empty"),
    ],
)  # fmt: skip
def test_what_templates_must_not_do(text: str, line: int, reason: str) -> None:
    assert broken(text)[0] == line
    assert reason in broken(text)[1]


DOUBLING = "{% set x = 'xxxxxxxx' %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}"
LOOPS = "{% for i in range(1000) %}{% for j in range(1000) %}{% for k in range(1000) %}"
ENDS = "{% endfor %}" * 3
HUGE = sample(
    values={
        "text": "x" * 500_000,
        "list": [["y" * 50] * 50] * 1000,
        "deep": [[[[[[["x"]]]]]]],
        "number": 10**400,
    },
    event_ids=["e" * 500] * 2000,
)


@pytest.mark.parametrize(
    "text",
    [
        LOOPS + ENDS,
        LOOPS + "x" + ENDS,
        LOOPS + "{% if i + j + k > 9999 %}x{% endif %}" + ENDS,
        LOOPS + "{% set y = alert.values.list | string | upper %}" + ENDS,
        "{% for i in range(1000) %}" * 4 + "{% endfor %}" * 4,
        "{% for i in range(1000) %}{% for a in alert.values.list %}"
        "{% if a == alert.values.list %}x{% endif %}{% endfor %}{% endfor %}",
        DOUBLING,
        DOUBLING.replace("~", "+"),
        "{{ range(10000000000) | list }}",
        "{% set x = 9999999999 %}" + "{% set x = x * x %}" * 60 + "{{ x }}",
        "{{ 'x' | replace('', alert.values.text) | replace('x', alert.values.text) }}",
        "{{ alert.values.list | join(alert.values.text) }}",
        "{{ " + "(" * 4000 + "1" + ")" * 4000 + " }}",
        "{{ " + "-" * 5000 + "1 }}",
        "{{ " + "1+" * 4000 + "1 }}",
        "{{ " + "not " * 2000 + "1 }}",
        "{{ " + "9" * 8000 + " }}",
        "{% if 1 %}" * 500 + "{% endif %}" * 500,
        "{{ alert.values.racks" + "[0]" * 2000 + " }}",
        "{{ 1" + " | string" * 900 + " }}",
    ],
)
def test_a_nasty_template_ends_with_a_reason(text: str) -> None:
    assert broken(text, HUGE)[1]


def test_a_huge_alert_is_cut_before_a_template_sees_it() -> None:
    assert len(made("{{ alert.values.text | length }}", HUGE)) == 4
    assert made("{{ alert.values.number }}", HUGE) == "inf"
    assert int(made("{{ alert.values.list | string | length }}", HUGE)) < 100_000
    assert len(made("{{ alert.values.text }}" * 5, HUGE)) == 4096


FRAGMENTS = st.lists(
    st.sampled_from(
        (
            *("{{", "}}", "{%", "%}", "for x in", "endfor", "if", "else", "endif", "set x =", "("),
            *("alert", ".values", ".labels", ".zone", "range(9)", "| upper", "| join", "~", "'a'"),
            *(
                ")",
                "[",
                "]",
                "x",
                "1",
                "+",
                "*",
                "==",
                "|",
                ".",
                " ",
                "\n",
                "{#",
                "#}",
                "is defined",
            ),
        )
    )
    | TEXT,
    max_size=25,
).map(" ".join)


@given(FRAGMENTS, FRAGMENTS, ANY_ALERT, st.sampled_from(("email", "sms")))
def test_any_template_gives_a_message_that_fits_a_delivery(
    subject: str, text: str, alert: Alert, channel: str
) -> None:
    templates = {"t": Template("t", subject, text)}
    written = write(templates, "t", channel, Occasion(alert, "hot", LINKS))
    Delivery(
        delivery_id="0" * 32,
        channel=channel,
        recipient="x",
        subject=written.message.subject,
        text=written.message.text,
        created_at_ms=0,
        alert=alert,
    )
    assert written.message.text
    assert written.message.subject.isprintable()
    assert len(written.message.subject) <= 160


def test_a_template_that_fails_falls_back_and_says_so() -> None:
    templates = {"page": Template("page", "", "a\n{{ alert.labels.rack }}")}
    written = write(templates, "page", "email", Occasion(ALERT, "hot", LINKS))
    first, empty, rest = written.message.text.split("\n", 2)
    assert first.startswith("(template page failed, line 2: rack is missing;")
    assert (empty, rest) == ("", render(ALERT, LINKS).text)
    assert written.trouble is not None
    sms = write(templates, "page", "sms", Occasion(ALERT, "hot")).message.text
    assert sms.startswith("[template page failed] CRITICAL over-heat: rack 7 is too hot")
    lost = write({}, "gone", "email", Occasion(ALERT, "hot"))
    assert "there is no such template any more" in lost.message.text


@pytest.mark.parametrize("name", ["page", "x" * 63])
def test_a_template_that_fails_leaves_a_short_texts_link_whole(name: str) -> None:
    link = "https://alerts.example.com/acknowledge/2026a." + "x" * 50
    written = write({}, name, "sms", Occasion(ALERT, "hot", Links(link)))
    assert written.message.text.startswith(f"[template {name}"[:40])
    assert written.message.text.endswith(f" {link}")
    assert len(written.message.text) <= 160


@pytest.mark.parametrize(
    "long",
    [
        "-" * 4080,
        "-" * 5000,
        "{% for i in range(500) %}item {{ i }}\n{% endfor %}",
        "{% for i in range(500) %}{{ links.acknowledge }}\n{% endfor %}",
    ],
)
def test_a_text_of_ones_own_that_is_cut_ends_with_its_link(long: str) -> None:
    text = made(long + "\nacknowledge: {{ links.acknowledge }}")
    assert len(text) <= 4096
    assert text.endswith(f"acknowledge: {LINKS.acknowledge}")
    assert set(re.findall(r"https:\S+", text)) == {LINKS.acknowledge}


def test_a_text_of_ones_own_that_grows_without_measure_fails() -> None:
    grows = "{% for i in range(500) %}{{ alert.summary }} {{ alert.event_ids }}{% endfor %}"
    assert broken(grows, HUGE) == (1, "it makes over 16384 characters")


def test_a_file_may_have_its_own_words_for_a_shipped_template() -> None:
    own = {"short": Template("short", "s", "own")}
    assert write(own, None, "sms", Occasion(ALERT, "hot")).message.text == "own"
    assert write(own, None, "email", Occasion(ALERT, "hot")).template == "plain"


@pytest.mark.parametrize(
    "text",
    [
        "{{ alert.values.price * 2 }}",
        "{{ alert.values.name[:3] }}",
        "{% for x in alert.values['all'] %}{{ x }}{% endfor %}",
        "{{ alert.values.host.name }}",
        "{{ alert.key.book }} {{ alert.labels.zone | default('-') }}",
    ],
)
def test_samples_have_what_a_template_names(text: str) -> None:
    assert try_out(Template("t", "{{ alert.watch }}", text), {}) is None


def test_samples_have_no_labels_and_both_kinds_of_severity() -> None:
    failure = try_out(Template("t", "", "a\n{{ alert.labels.zone }}"), {})
    assert failure is not None
    assert (failure.part, failure.line) == ("text", 2)
    info = "{% if alert.severity == 'info' %}{{ nothing }}{% endif %}x"
    assert try_out(Template("t", info, "x"), {}) == Failure("subject", 1, "'nothing' is undefined")
    mixed = "{{ alert.values.a + 1 }}{% for x in alert.values.b %}{{ x }}{% endfor %}"
    assert try_out(Template("t", "", mixed), {}) is not None
    assert try_out(Template("t", "", mixed), {"values": {"b": ["x"]}}) is None


@pytest.mark.parametrize("severity", Severity)
def test_links_and_severity_stand_in_the_plain_text(severity: Severity) -> None:
    message = write({}, None, "email", Occasion(sample(severity=severity), "hot", LINKS)).message
    assert "acknowledge: https://example.com/a/1" in message.text
    assert severity.upper() in message.subject
