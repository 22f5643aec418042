"""What of the user's environment is for other servers, and what Java reads names of files by."""

import sys
from collections.abc import Mapping
from typing import Final

OTHER_SPARK: Final = frozenset(
    {
        "SPARK_HOME",
        "SPARK_CONF_DIR",
        "PYSPARK_SUBMIT_ARGS",
        "SPARK_REMOTE",
        "SPARK_API_MODE",
        "SPARK_CONNECT_MODE_ENABLED",
        "SPARK_DIST_CLASSPATH",
        "HADOOP_CONF_DIR",
        "YARN_CONF_DIR",
    }
)
"""What leads PySpark to another Spark than its own, to its settings, and to other classes."""
OTHER_POSTGRES: Final = "PG"
"""So begins each variable of libpq; what they ask of a server holds beside any address."""
JAVAS_LOCALE: Final[Mapping[str, str]] = {"LC_ALL": "C.UTF-8"} if sys.platform == "linux" else {}
"""Java reads its command line as the locale spells it: as ASCII where that is C, or is missing."""


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what programs that we start may find of the user's environment."""
    return {
        name: value
        for name, value in environment.items()
        if name not in OTHER_SPARK and not name.startswith(OTHER_POSTGRES)
    }
