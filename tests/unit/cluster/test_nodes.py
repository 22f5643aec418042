"""Which node is hurt: the ledger's, or one that has an auditor and no ledger."""

from pathlib import Path

import pytest

from tests.cluster.kubectl import Kubectl, Object
from tests.cluster.nodes import HOLDERS, LEDGER, node_of
from tests.cluster.release import Release


class Placed(Release):
    """A release whose pods are where a test says."""

    places: dict[str, str]

    def pods(self, component: str, *more: str) -> list[Object]:
        return [{"spec": {"nodeName": self.places[component]}}]


@pytest.mark.parametrize(("auditors", "hurt"), [("xy", "y"), ("yx", "y"), ("yz", "y")])
def test_a_node_is_hurt_for_what_is_on_it(auditors: str, hurt: str, tmp_path: Path) -> None:
    release = Placed(Kubectl("none"), tmp_path)
    release.places = {"postgres": "x", "auditor-a": auditors[0], "auditor-b": auditors[1]}
    assert node_of(release, LEDGER) == "x"
    assert node_of(release, HOLDERS[0]) == hurt
