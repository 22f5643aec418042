"""The answer as lines that people read: needs, costs, and every assumption."""

from collections.abc import Iterator, Sequence

from tests.bench.sizing.cost import Cost
from tests.bench.sizing.demand import Demand
from tests.bench.sizing.figures import Figures
from tests.bench.sizing.needs import DISK_FULL_SHARE, Needs
from tests.bench.sizing.prices import Price, Prices, Source


def lines(
    demand: Demand, figures: Figures, found: Needs, costs: dict[str, Cost], prices: Prices
) -> Iterator[str]:
    """Return the whole report."""
    yield f"Sizing for {demand.rate:,.0f} events a second"
    yield from _needed(found)
    yield from _costs(costs)
    yield from _warnings(demand, figures)
    yield from _assumed(demand, figures)
    yield from _prices(prices)


def _needed(found: Needs) -> Iterator[str]:
    yield "\nNeeds"
    for name, cores in found.cores.items():
        yield f"  {name:<30}{cores:>12,.1f} cores"
    yield f"  {'all':<30}{sum(found.cores.values()):>12,.1f} cores"
    yield f"  {'partitions of the stream':<30}{found.partitions:>12,}"
    yield f"  {'brokers':<30}{found.brokers:>12,}"
    for name, memory in found.memory_gibibytes.items():
        yield f"  {f'memory, {name}':<30}{memory:>12,.1f} GiB"
    disks = {
        "brokers": found.broker_disk_gigabytes,
        "state of auditors": found.state_disk_gigabytes,
        "ledger": found.ledger_disk_gigabytes,
        "archive (objects)": found.archive_gigabytes,
    }
    for name, disk in disks.items():
        yield f"  {f'disk, {name}':<30}{disk:>12,.0f} GB"
    yield f"  {'brokers write':<30}{found.write_megabytes_per_second:>12,.1f} MB/s"
    for name, megabits in found.network_megabits.items():
        yield f"  {f'network, {name}':<30}{megabits:>12,.0f} Mbit/s"


def _costs(costs: dict[str, Cost]) -> Iterator[str]:
    for where, cost in costs.items():
        yield f"\nCost {where}, US dollars a year"
        for machine in cost.machines:
            yield f"  {machine}"
        for name, dollars in cost.dollars_year.items():
            yield f"  {name:<30}{dollars:>12,.0f}"
        yield f"  {'all':<30}{cost.total:>12,.0f}"


def _warnings(demand: Demand, figures: Figures) -> Iterator[str]:
    said = []
    if demand.auditors == 1:
        said.append("one auditor: while it restarts, alerts wait")
    if demand.replication < 3:
        said.append(f"{demand.replication} copies: a lost broker may lose or stop events; take 3")
    if demand.books > figures.measured_books.value:
        said += _beyond_measured(demand, figures)
    if len(figures.machines()) > 1:
        said += _several_machines(figures)
    if said:
        yield "\nMind"
        yield from (f"  {each}" for each in said)


def _beyond_measured(demand: Demand, figures: Figures) -> Sequence[str]:
    return (
        f"{demand.books:,} books open at once: {figures.measured_books.value:,.0f} were measured.",
        "  The auditors' memory goes on in proportion here, but RocksDB takes no more than",
        "  ALDEBARAN_AUDITOR_STATE_MEMORY_MEBIBYTES: where that is not raised, it reads what it",
        "  cannot hold from the disk, and gets slower. The disk grows with each book in any case",
    )


def _several_machines(figures: Figures) -> Iterator[str]:
    yield "the figures are of several machines, which are not as fast as each other:"
    for machine, names in figures.machines().items():
        yield f"  {', '.join(names)}: {machine}"


def _assumed(demand: Demand, figures: Figures) -> Iterator[str]:
    yield "\nAsked for (options change it)"
    for name, value in (demand.model_dump() | {"open_books": demand.books}).items():
        yield f"  {name:<22}{value:>14,}"
    yield "\nFigures (a core is one of the two of the measuring machine; AWS: one vCPU)"
    for name, figure in figures.items():
        on = f"; on {figure.machine}" if figure.machine else ""
        yield f"  {name:<24}{figure.value:>10,.2f} {figure.unit}; {figure.origin}{on}"
    yield f"  disks are filled to {DISK_FULL_SHARE:.0%}; cost grows in proportion to the rate"
    yield "  not measured: more than two cores; test your own rate before you rely on this"


def _prices(prices: Prices) -> Iterator[str]:
    yield "\nPrices (check them: they change, and differ by region and contract)"
    for part in (prices.aws, prices.own):
        for name in type(part).model_fields:
            value = getattr(part, name)
            if isinstance(value, Price):
                yield f"  {name:<32}{value.value:>10,g}  {value.source}, {value.date}"
            elif isinstance(value, Source):
                yield f"  {name:<32}{'':>10}  {value.source}, {value.date}"
