"""Order of measuring and ratios: there and back, and only within one visit."""

from tests.bench.rounds import Ratio, ratio, there_and_back

ROWS = [("ours", 0, 2.0), ("peer", 0, 4.0), ("peer", 1, 1.0), ("ours", 1, 3.0), ("ours", 2, 9.0)]


def test_every_second_visit_goes_back() -> None:
    assert there_and_back(["a", "b"], 3) == [
        *(("a", 0), ("b", 0)),
        *(("b", 1), ("a", 1)),
        *(("a", 2), ("b", 2)),
    ]


def found(peer: str) -> Ratio | None:
    return ratio("p99", "ours", peer, ROWS, lambda row: (row[0], row[1]), lambda row: row[2])


def test_ratios_pair_rows_of_one_visit() -> None:
    assert found("peer") == Ratio("p99", "ours", "peer", 2, 1.75, 0.5, 3.0)


def test_no_ratio_without_a_pair() -> None:
    assert found("other") is None
