"""A column of events in Avro's binary encoding, read by the bench's own Java class."""

import os
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

from pyspark.sql import Column, SparkSession

from engine.java import jvm_of
from engine.own_classes import java_column
from services.contracts.streams import load_streams
from services.machine.installation import java_sources, setup
from tests.bench.avro.encoding import schema

SOURCES: Final = java_sources.Sources(Path(__file__).parent, "aldebaran-bench-avro")


def from_avro(spark: SparkSession, column: str, columns: str) -> Column:
    """Return a column of structs, as `engine.events.from_json` does in whose place it stands."""
    stream = next(one for one in load_streams().values() if one.spark_ddl() == columns)
    read = jvm_of(spark).bench.Avro.struct(java_column(column), columns, schema(stream))
    return Column(read)


def reading() -> AbstractContextManager[object]:
    """Let queries that are made in the block take what is in their topics for Avro's."""
    return patch("engine.events.from_json", from_avro)


def built(tools: Path, folder: Path) -> Path:
    """Compile the Java class into a jar in the folder; return it."""
    compiler = setup.compiler(tools, os.environ)
    libraries = (*compiler.libraries, *setup.jars_folder(tools, "spark").glob("*.jar"))
    return java_sources.build(SOURCES, replace(compiler, libraries=libraries), folder)


def fill(folder: Path, tools: Path) -> None:
    """Make a folder of what an auditor finds in its own folder of jars, and of ours."""
    folder.mkdir(parents=True)
    for jar in setup.jars_folder(tools, "spark").glob("*.jar"):
        (folder / jar.name).symlink_to(jar.resolve())
    built(tools, folder)
