"""From a demand to cores, partitions, brokers, disks, memory and network. Pure arithmetic."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from tests.bench.sizing.demand import Demand
from tests.bench.sizing.figures import Figures

MIB: Final = 1024**2
GIB: Final = 1024**3
GB: Final = 1e9
READERS_BESIDE_AUDITORS: Final = 1
"""The archivist."""
DISK_FULL_SHARE: Final = 0.7
"""Disks are not filled above this."""
BROKER_DISK_BYTES: Final = 15_000 * GB
"""More than this on one broker takes too long to copy after a loss."""
BROKER_WRITE_BYTES: Final = 150e6
"""Bytes a second that one broker writes without queues."""
BROKER_HEAP_MIB: Final = 4096
PAGE_CACHE_SECONDS: Final = 60
"""Readers that are so far behind still read from memory."""
STATE_ON_DISK: Final = 3
"""Times the checkpoint that was measured: itself, RocksDB's own files, and room to merge them."""
POSTGRES_MIB: Final = 4096


@dataclass(frozen=True)
class Needs:
    """What must be there; cores are those in use at the peak, divided by how busy they may be."""

    cores: dict[str, float]
    partitions: int
    brokers: int
    broker_disk_gigabytes: float
    state_disk_gigabytes: float
    ledger_disk_gigabytes: float
    archive_gigabytes: float
    memory_gibibytes: dict[str, float]
    write_megabytes_per_second: float
    network_megabits: dict[str, float]

    @property
    def broker_cores(self) -> float:
        """Cores of all brokers."""
        return self.cores["brokers"]

    @property
    def other_cores(self) -> float:
        """Cores of everything else."""
        return sum(self.cores.values()) - self.broker_cores

    @property
    def disk_gigabytes(self) -> float:
        """All disks; the archive is not on them."""
        return self.broker_disk_gigabytes + self.state_disk_gigabytes + self.ledger_disk_gigabytes


def needs(demand: Demand, figures: Figures) -> Needs:
    """Work out what a demand needs."""
    bytes_per_second = demand.rate * demand.event_bytes
    partitions = partitions_for(demand, figures)
    disk = broker_disk_bytes(demand)
    writes = bytes_per_second * demand.replication
    copies = demand.replication
    fewest = copies if copies > 1 else 1
    brokers = max(fewest, ceil(disk / BROKER_DISK_BYTES), ceil(writes / BROKER_WRITE_BYTES))
    return Needs(
        cores=cores(demand, figures),
        partitions=partitions,
        brokers=brokers,
        broker_disk_gigabytes=disk / GB,
        state_disk_gigabytes=state_disk_bytes(demand, figures) / DISK_FULL_SHARE / GB,
        ledger_disk_gigabytes=ledger_bytes(demand, figures) / DISK_FULL_SHARE / GB,
        archive_gigabytes=archive_bytes(demand, figures) / GB,
        memory_gibibytes=memory(demand, figures, brokers),
        write_megabytes_per_second=writes / 1e6,
        network_megabits=network(demand),
    )


def cores(demand: Demand, figures: Figures) -> dict[str, float]:
    """Return the cores that each component takes at the peak."""
    readers = demand.auditors + READERS_BESIDE_AUDITORS
    deliveries = demand.alert_rate * demand.deliveries_per_alert
    written = figures.broker_write_cpu_us.value * demand.replication
    broker_us = written + figures.broker_read_cpu_us.value * readers
    micros = {
        "gateways": demand.rate * figures.gateway_cpu_us.value,
        "brokers": demand.rate * broker_us,
        "auditors": demand.auditors
        * (demand.rate * figures.rule_cpu_us.value + figures.auditor_awake_cores.value * 1e6),
        "archivist": demand.rate * figures.archivist_cpu_us.value,
        "lookout, deliverers, ledger": demand.alert_rate * figures.alert_cpu_us.value
        + deliveries * figures.delivery_cpu_us.value,
    }
    return {name: max(0.5, used / 1e6 / demand.busy_share) for name, used in micros.items()}


def partitions_for(demand: Demand, figures: Figures) -> int:
    """Return how many partitions the busiest stream needs: each is worked off by one core."""
    return max(2, ceil(demand.rate * figures.rule_cpu_us.value / 1e6 / demand.busy_share))


def broker_disk_bytes(demand: Demand) -> float:
    """Return the bytes of all brokers' disks."""
    mean = demand.rate * demand.mean_share * demand.event_bytes
    return mean * demand.retention_hours * 3600 * demand.replication / DISK_FULL_SHARE


def state_disk_bytes(demand: Demand, figures: Figures) -> float:
    """Return the bytes of state on the disks of all auditors together."""
    return STATE_ON_DISK * demand.books * figures.book_disk_bytes.value * demand.auditors


def ledger_bytes(demand: Demand, figures: Figures) -> float:
    """Return the bytes of alerts and deliveries in Postgres, at the mean rate."""
    row = figures.alert_row_bytes.value
    row += demand.deliveries_per_alert * figures.delivery_row_bytes.value
    return demand.alert_rate * demand.mean_share * 86_400 * demand.ledger_days * row


def archive_bytes(demand: Demand, figures: Figures) -> float:
    """Return the bytes of Parquet."""
    mean = demand.rate * demand.mean_share * demand.event_bytes
    return mean * 86_400 * demand.archive_days * figures.parquet_share.value


def memory(demand: Demand, figures: Figures, brokers: int) -> dict[str, float]:
    """Return GiB of memory of each component."""
    cached = demand.rate * demand.event_bytes * demand.replication * PAGE_CACHE_SECONDS
    auditor = figures.auditor_base_mebibytes.value
    auditor += demand.books * figures.book_memory_bytes.value / MIB
    mebibytes = {
        "brokers": brokers * BROKER_HEAP_MIB + cached / MIB,
        "auditors": demand.auditors * auditor,
        "archivist": figures.auditor_base_mebibytes.value,
        "services": figures.services_mebibytes.value,
        "ledger": float(POSTGRES_MIB),
    }
    return {name: value / 1024 for name, value in mebibytes.items()}


def network(demand: Demand) -> dict[str, float]:
    """Return megabits a second between the parts at the peak."""
    megabits = demand.rate * demand.event_bytes * 8 / 1e6
    return {
        "in from publishers": megabits,
        "gateways to brokers": megabits,
        "between brokers": megabits * (demand.replication - 1),
        "brokers to readers": megabits * (demand.auditors + READERS_BESIDE_AUDITORS),
    }
