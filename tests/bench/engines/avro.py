"""One auditor whose stream is in Avro's binary encoding."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from tests.bench.avro.reading import fill
from tests.bench.engine import ROOT, Engine, Scene
from tests.bench.engines.auditors import Together, alone, running


@contextmanager
def single(scene: Scene) -> Iterator[Engine]:
    """Run one auditor."""
    jars = scene.home / "jars"
    fill(jars, ROOT / os.environ.get("ALDEBARAN_TOOLS", ".tools"))
    more = {"ALDEBARAN_AUDITOR_JARS": str(jars)}
    parts = alone(replace(scene, settings={**scene.settings, **more}))
    with running(scene, parts, "tests.bench.avro") as auditors:
        yield Together(auditors)
