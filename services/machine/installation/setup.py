"""Brings what the programs need beside Python packages: Java and the listed jars."""

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from services.machine.installation import ivy, jars, java_sources
from services.machine.installation.prerequisites import Missing, find_java
from services.machine.problems import MachineProblem

ROOT: Final = Path(__file__).parents[3]
PYTHON_PATH: Final = f"{ROOT}:{ROOT / 'spark-apps'}"
OWN: Final = java_sources.Sources(ROOT / "spark-apps" / "java", "aldebaran-spark-apps")


def required_java(environment: Mapping[str, str]) -> Path:
    """Return a Java program of a supported version; raises MachineProblem where there is none."""
    java = find_java(environment)
    if isinstance(java, Missing):
        raise MachineProblem(f"{java.found}; run `make setup` to see how to install it")
    return java


def jars_folder(tools: Path, jar_set: str) -> Path:
    """Return where the jars of one set (`broker`, `spark`) are kept."""
    return tools / "jars" / jar_set


def install_jars(tools: Path, environment: Mapping[str, str]) -> int:
    """Make every set of jars complete and verified; return how many jars had to be fetched.

    What Spark runs of our own is compiled beside its connector.
    """
    used = compiler(tools, environment)
    built = {"spark": (OWN.jar_name(used.jar),)}
    fetched = install_locked(jars.LOCK_FILE, tools, environment, built)
    java_sources.build(OWN, used, jars_folder(tools, "spark"))
    return fetched


def compiler(tools: Path, environment: Mapping[str, str]) -> java_sources.Compiler:
    """Return the compiler of what Spark runs, which finds Spark's own classes."""
    (listed,) = jars.parse_lock(jars.LOCK_FILE.read_text("utf-8"))["compiler"]
    return java_sources.Compiler(
        java=required_java(environment),
        jar=jars_folder(tools, "compiler") / listed.file_name,
        libraries=tuple(sorted(ivy.find_ivy_jar().parent.glob("*.jar"))),
    )


def install_locked(
    lock_file: Path,
    tools: Path,
    environment: Mapping[str, str],
    built: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> int:
    """Make every set of jars of one lock file complete; return how many had to be fetched.

    `built` names, by set, what else may lie in its folder.
    """
    fetch = ivy.IvyFetch(
        java=required_java(environment),
        ivy_jar=ivy.find_ivy_jar(),
        environment=environment,
        maven_settings=Path.home() / ".m2" / "settings.xml",
    )
    locked = jars.parse_lock(lock_file.read_text("utf-8"))
    return sum(
        jars.install(jars_folder(tools, name), listed, fetch, built.get(name, ()))
        for name, listed in locked.items()
    )
