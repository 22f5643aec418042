"""From needs and prices to machines and dollars a year. Pure arithmetic."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from tests.bench.sizing.demand import Demand
from tests.bench.sizing.needs import GB, Needs
from tests.bench.sizing.prices import Aws, Machine, Own

HOURS_YEAR: Final = 8766
MONTHS_YEAR: Final = 12
SECONDS_YEAR: Final = HOURS_YEAR * 3600
FREE_MEGABYTES_PER_SECOND: Final = 125
"""Of each disk on AWS; more is paid for."""
OTHER_MACHINES_FEWEST: Final = 3
"""So that any one of them may be lost."""
ZONES: Final = 3


@dataclass(frozen=True)
class Cost:
    """Machines in words, and dollars a year by part."""

    machines: tuple[str, ...]
    dollars_year: dict[str, float]

    @property
    def total(self) -> float:
        """All parts together, in dollars a year."""
        return sum(self.dollars_year.values())


@dataclass(frozen=True)
class Load:
    """What machines of one role carry together at the peak."""

    cores: float
    memory_gibibytes: float
    network_megabits: float


@dataclass(frozen=True)
class Fleet:
    """So many machines of one kind."""

    machine: Machine
    count: int

    @property
    def per_hour(self) -> float:
        """Dollars an hour of all of them."""
        return self.machine.per_hour * self.count


def cheapest(machines: tuple[Machine, ...], fewest: int, load: Load) -> Fleet:
    """Return the cheapest machines, all of a kind, that carry a load together."""

    def count(machine: Machine) -> int:
        return max(
            fewest,
            ceil(load.cores / machine.cores),
            ceil(load.memory_gibibytes / machine.memory_gibibytes),
            ceil(load.network_megabits / machine.network_megabits),
        )

    fleets = [Fleet(each, count(each)) for each in machines]
    return min(fleets, key=lambda fleet: (fleet.per_hour, fleet.count))


def of_brokers(needs: Needs) -> Load:
    """Return what all brokers carry; what goes out and comes in uses different lanes."""
    lanes = needs.network_megabits
    out = lanes["between brokers"] + lanes["brokers to readers"]
    come = lanes["between brokers"] + lanes["gateways to brokers"]
    return Load(needs.broker_cores, needs.memory_gibibytes["brokers"], max(out, come))


def of_others(needs: Needs) -> Load:
    """Return what everything else carries."""
    memory = sum(needs.memory_gibibytes.values()) - needs.memory_gibibytes["brokers"]
    lanes = needs.network_megabits
    return Load(
        needs.other_cores, memory, lanes["in from publishers"] + lanes["brokers to readers"]
    )


def on_aws(demand: Demand, needs: Needs, aws: Aws) -> Cost:
    """Return what it costs on AWS, on demand."""
    brokers = cheapest(aws.machines, needs.brokers, of_brokers(needs))
    fewest = OTHER_MACHINES_FEWEST if demand.auditors > 1 else 1
    others = cheapest(aws.machines, fewest, of_others(needs))
    fast = max(0.0, needs.write_megabytes_per_second - FREE_MEGABYTES_PER_SECOND * brokers.count)
    dollars = {
        "brokers": brokers.per_hour * HOURS_YEAR,
        "other machines": others.per_hour * HOURS_YEAR,
        "disks": needs.disk_gigabytes * aws.disk_gigabyte_month.value * MONTHS_YEAR,
        "disks' speed": fast * aws.disk_megabyte_per_second_month.value * MONTHS_YEAR,
        "archive": needs.archive_gigabytes * aws.archive_gigabyte_month.value * MONTHS_YEAR,
        "between zones": zone_gigabytes(demand) * aws.zone_gigabyte.value,
    }
    named = (
        f"{brokers.count} of {brokers.machine.name} (brokers)",
        f"{others.count} of {others.machine.name} (all else)",
    )
    return Cost(named, dollars)


def zone_gigabytes(demand: Demand) -> float:
    """Return the gigabytes a year that cross zones, of a cluster spread over three of them.

    Writers and readers meet a broker of another zone two times of three; copies go to others.
    """
    if demand.replication == 1:
        return 0.0
    other_zone = (ZONES - 1) / ZONES
    times = other_zone * (1 + demand.auditors + 1) + min(demand.replication, ZONES) - 1
    mean = demand.rate * demand.mean_share * demand.event_bytes
    return mean * SECONDS_YEAR * times / GB


def on_own(demand: Demand, needs: Needs, own: Own) -> Cost:
    """Return what it costs on servers of one's own, in a rented place."""
    server = own.server
    disk = needs.disk_gigabytes + needs.archive_gigabytes
    megabits = sum(needs.network_megabits.values())
    count = max(
        3 if demand.replication > 1 or demand.auditors > 1 else 1,
        needs.brokers,
        ceil((needs.broker_cores + needs.other_cores) / server.cores),
        ceil(sum(needs.memory_gibibytes.values()) / server.memory_gibibytes),
        ceil(disk / server.disk_gigabytes),
        ceil(megabits / server.network_megabits),
    )
    power = own.server_kilowatt_hours_year.value * own.kilowatt_hour.value
    dollars = {
        "servers": count * own.server_price.value / own.server_years.value,
        "power": count * power,
        "place": count * own.place_month.value * MONTHS_YEAR,
    }
    hands = sum(dollars.values()) * own.hands_share.value
    return Cost((f"{count} of {server.name}",), dollars | {"spares and hands": hands})
