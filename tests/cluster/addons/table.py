"""Every add-on that can be built, by its name."""

from collections.abc import Iterable
from typing import Final

from services.machine.problems import MachineProblem
from tests.cluster.addons.addon import Addon
from tests.cluster.addons.apache_spark_operator import APACHE_SPARK_OPERATOR
from tests.cluster.addons.cloudnative_pg import CLOUDNATIVE_PG
from tests.cluster.addons.keda import KEDA
from tests.cluster.addons.kube_router import KUBE_ROUTER
from tests.cluster.addons.metrics_server import METRICS_SERVER
from tests.cluster.addons.spark_operator import SPARK_OPERATOR

ADDONS: Final = {
    addon.name: addon
    for addon in (
        METRICS_SERVER,
        KEDA,
        SPARK_OPERATOR,
        KUBE_ROUTER,
        CLOUDNATIVE_PG,
        APACHE_SPARK_OPERATOR,
    )
}


def named(names: Iterable[str]) -> list[Addon]:
    """Return the add-ons of these names.

    Raises:
        MachineProblem: none is named, or one that nobody knows.
    """
    wanted = list(names)
    known = f'there are: ADDONS="{" ".join(ADDONS)}"'
    if unknown := [name for name in wanted if name not in ADDONS]:
        raise MachineProblem(f"no add-on {', '.join(unknown)}; {known}")
    if not wanted:
        raise MachineProblem(f"no add-on is named; {known}")
    return [ADDONS[name] for name in wanted]
