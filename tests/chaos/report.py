"""The kill matrix as a file that people read, made of the last result of each cell."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from tests.chaos.cells import UNSURE_DELIVERERS, Cell
from tests.chaos.counting import SENDS_AT_ONCE, in_one_line
from tests.chaos.probe import INTERVAL_SECONDS, TIMES_BASELINE
from tests.chaos.results import Outcome, Result, Results, Run
from tests.chaos.trial import LASTING_SECONDS, SLOW_SECONDS, SLOW_WRITES_PER_SECOND, WARM_UP_PROBES

_HEAD = """# Kill matrix: what was accepted, what alerted, how long until normal

Made by `make chaos`. The whole system runs as `make run` starts it, with two auditors,
three brokers of three copies each (two must have a record before it counts as written), and
everything between its programs and their stores going through doors that can be cut. Each cell
begins when all of it is well (every program ready, both auditors answering, every copy in step),
and all of it must be well again at its end. While a load runs through the gateway, one fault
happens in the named phase. Afterwards every accepted over-purchase must have alerted once, and its
three deliveries (bus, webhook, e-mail) must have arrived once each, counted at the far ends; the
run fails otherwise. A cell that could not be played to its end stands with the reason, and is
wrong; so is one that did not come to rest in time, whose counts are those of that moment.

- **accepted**: events that the gateway answered with 2xx, probes included.
- **alerts**: alerts in the ledger, of the over-purchases among what was accepted.
- **arrived**: messages at the three far ends, each delivery counted once.
- **repeats**: `m` with the visible mark, one of a message at most: the ledger says so here, and
  that such a message shows the mark is read in the messages of [matrix.md](matrix.md); `k` under
  the same key on the bus, whose readers drop them by it; `h` are held for a person, as nobody
  can know whether the far end has them: at most {sends}, what a deliverer has under way, for each
  that was hit, {unsure} times as many where Postgres was, else none.
- **missing**: alerts and deliveries that are not there, and deliveries that count as sent and did
  not arrive.
- **worst probe**, **normal again**: four times a second one over-purchase is sent by itself and
  timed from before the gateway to the webhook's receiver. Judged are all that had not arrived when
  the fault came; `never` counts those of which no message came, as what is held for a person, and
  the worst is of the others. Where nothing is hit all are judged, and show what a load costs.
  Normal again is the time from the fault's *beginning* until ten in a row were within the limit of
  the same run and load (listed at the end), {times:g} times the 95th percentile of its undisturbed
  cell, which is played until that percentile changes no more (the first of a run for {warm:g}
  minutes before it counts: so long programs that have just started are slower); 0: no probe took
  longer; `never`: not while that was waited for. So an outage's own length is part of it
  ({lasting}).
- **load**: `(over)` where all of it was sent before the fault came, which probes alone met then.
- **phase**: an auditor counts a batch once it is committed, so at its *batch boundary* it is hit
  just after the commit, as the next batch begins.
- **run**, **at**: the run in which the cell was last played (listed at the end), and when it ended.
- **busy**: the machine's load average then. Other work on the same cores makes times longer.

A watch is changed in its file, and changed back once both auditors have taken the change over; all
probes are of `over-purchase`. SIGKILL is tried in each phase that means something to who is hit,
and in a burst; what lasts (SIGSTOP, network, disks) and changes of watches mid batch in steady
load alone, as each such cell takes a minute or two.

SIGSTOP outlasts a consumer's session (6 s), a broker's (2 s) and a deliverer's lease (15 s).
Network silent: what is sent comes when it is over, and no connection ends; a broker is cut off
from its peers too. Disk full: the store's own small disk is filled to the last byte, and emptied
again; an auditor's stays full for {slow:g} s, as it writes there at a boundary alone. Disk slow: it
takes {writes} writes a second, so that each one waits for a tenth of a second, and what is to be
safely on it for several of them.
"""
_COLUMNS = ("hit", "load", "phase")
_FIGURES = (
    "accepted", "alerts", "arrived", "repeats", "missing", "worst probe", "normal again", "run",
    "at", "busy",
)  # fmt: skip
_OF_RUN = ("run", "begun (UTC)", "commit", "machine", "auditors' batches", "cells", "limit")


def write(results: Results, cells: Sequence[Cell], path: Path) -> None:
    """Write the report on the cells of a plan."""
    path.write_text("\n".join(lines(results, cells)) + "\n", "utf-8")


def lines(results: Results, cells: Sequence[Cell]) -> Iterator[str]:
    """Return the report's lines."""
    known = results.by_title
    played = [known[cell.title] for cell in cells if cell.title in known]
    runs = sorted({result.run for result in played}, key=lambda run: run.begun)
    lasting = ", ".join(f"{fault} {long:g} s" for fault, long in LASTING_SECONDS.items() if long)
    yield _HEAD.format(
        times=TIMES_BASELINE,
        warm=WARM_UP_PROBES * INTERVAL_SECONDS / 60,
        lasting=lasting,
        writes=SLOW_WRITES_PER_SECOND,
        slow=SLOW_SECONDS,
        sends=SENDS_AT_ONCE,
        unsure=UNSURE_DELIVERERS,
    )
    yield summed(played, len(cells))
    for fault, group in groupby(sorted(played, key=_by_fault), key=lambda each: each.cell.fault):
        yield from ("", f"## {fault}", "", f"| {' | '.join((*_COLUMNS, *_FIGURES))} |")
        yield "|---" * len(_COLUMNS) + "|--:" * len(_FIGURES) + "|"
        yield from (shown(result, runs.index(result.run) + 1) for result in group)
    yield from left_out(cell.title for cell in cells if cell.title not in known)
    yield from ("", "## Runs", "", f"| {' | '.join(_OF_RUN)} |")
    yield "|--:|---|---|---|--:|--:|---|"
    for number, run in enumerate(runs, start=1):
        yield _of_run(number, run, [result for result in played if result.run == run])


def summed(played: Sequence[Result], planned: int) -> str:
    """Return the whole in one line."""
    outcomes = [result.outcome for result in played if result.outcome]
    return in_one_line(
        planned,
        sum(not result.good for result in played),
        sum(each.accepted for each in outcomes),
        [each.counts for each in outcomes],
    )


def shown(result: Result, run: int) -> str:
    """Return one line of a table."""
    cell, outcome = result.cell, result.outcome
    said = " + ".join(cell.hit)
    hit = said or "nobody"
    if outcome is not None and cell.hit != outcome.hit:
        hit = f"{said} ({', '.join(outcome.hit)})"
    over = " (over)" if outcome is not None and outcome.load_runs is False else ""
    place = f"| {hit} | {cell.workload}{over} | {cell.phase} "
    played = f"| {run} | {result.at[-5:]} | {result.load:.1f} |"
    if outcome is None:
        return f"{place}| **{result.problem.replace('|', '/')}** {'| ' * 6}{played}"
    wrong = "" if result.good else f" **wrong: {outcome.counts}**"
    return f"{place}| {' | '.join(_figures(outcome))}{wrong} {played}"


def left_out(titles: Iterable[str]) -> Iterator[str]:
    """Name the cells without a result."""
    for number, title in enumerate(titles):
        if not number:
            yield from ("", "## Not played yet", "")
        yield f"- {title}"


def _figures(outcome: Outcome) -> tuple[str, ...]:
    counts = outcome.counts
    kinds = ((counts.repeats_marked, "m"), (counts.repeats_same_key, "k"), (counts.held, "h"))
    return (
        f"{outcome.accepted:,}",
        f"{counts.alerted:,} of {counts.expected:,}",
        f"{counts.arrived:,}",
        " ".join(f"{number}{kind}" for number, kind in kinds if number) or "0",
        f"{counts.missing:,}",
        _worst(outcome),
        _seconds(outcome.normal_again_ms, 1),
    )


def _worst(outcome: Outcome) -> str:
    worst = "" if outcome.probe_worst_ms is None else _seconds(outcome.probe_worst_ms, 2)
    never = "" if outcome.probes_never is None else f"{outcome.probes_never} never"
    return ", ".join(filter(None, (worst, never)))


def _seconds(ms: int | None, digits: int) -> str:
    return "never" if ms is None else f"{ms / 1000:.{digits}f} s"


def _by_fault(result: Result) -> int:
    return list(type(result.cell.fault)).index(result.cell.fault)


def _of_run(number: int, run: Run, played: Sequence[Result]) -> str:
    limits_ms = {
        each.cell.workload: each.outcome.limit_ms
        for each in played
        if each.outcome and each.outcome.limit_ms
    }
    limits = ", ".join(f"{load} {limit:,.0f} ms" for load, limit in sorted(limits_ms.items()))
    facts = (run.begun, run.commit, run.machine, f"{run.batch_seconds} s", str(len(played)), limits)
    return f"| {number} | {' | '.join(facts)} |"
