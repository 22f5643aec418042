"""The rows of `make bench`: each name starts one engine; add an engine by adding a line."""

from types import MappingProxyType
from typing import Final

from tests.bench.engine import Start
from tests.bench.engines import auditors, flink, killed, plain

ENGINES: Final = MappingProxyType[str, Start](
    {
        "pair": auditors.pair,
        "pair-together": auditors.pair_together,
        "pair-killed": killed.pair,
        "single": auditors.single,
        "micro-batch": auditors.micro_batch,
        "flink-heap": flink.heap,
        "flink-rocksdb": flink.rocksdb,
        "consumer": plain.rule,
        "pass-through": plain.pass_through,
    }
)

NO_RULE: Final = frozenset({"pass-through"})
"""Engines that do not judge by the rule: ceilings."""
