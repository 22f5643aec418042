"""Keeps beside each checkpoint what the query was, so that no other query continues it."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final

from services.backbone.errors import Refused
from services.contracts.streams import StreamDeclaration
from services.contracts.watches import WatchDeclaration

FORMAT: Final = 1
_FILE: Final = "watch.json"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Everything that the state of a query depends on; texts and severities may change freely."""

    format: int
    sql: str
    arguments: str
    streams: str
    watermark: str
    shuffle_partitions: int

    def differences(self, other: "Fingerprint") -> list[str]:
        """Return the names of the parts that differ."""
        mine, theirs = asdict(self), asdict(other)
        return [name.replace("_", " ") for name in mine if mine[name] != theirs[name]]


def fingerprint(
    watch: WatchDeclaration, streams: dict[str, StreamDeclaration], shuffle_partitions: int
) -> Fingerprint:
    """Return what the watch's state depends on; white space in the SQL does not count."""
    read = {name: streams[name].spark_ddl() for name in watch.streams}
    return Fingerprint(
        format=FORMAT,
        sql=_digest(" ".join(watch.sql.split())),
        arguments=_digest(json.dumps(watch.arguments(), sort_keys=True)),
        streams=_digest(json.dumps(read)),
        watermark=watch.watermark,
        shuffle_partitions=shuffle_partitions,
    )


def claim(folder: Path, watch: str, wanted: Fingerprint) -> Path:
    """Return the folder for Spark's checkpoint, after making sure that it is this query's.

    Raises:
        Refused: the folder holds another query's checkpoint, or cannot be used.
    """
    spark_folder, kept = folder / "spark", folder / _FILE
    try:
        if kept.exists():
            _check(folder, watch, _read(kept), wanted)
        elif spark_folder.exists():
            raise Refused(f"watch {watch}: {kept} is missing; {_way_out(folder)}")
        else:
            _write(kept, wanted)
    except OSError as error:
        raise Refused(f"watch {watch}: checkpoint folder {folder}: {error}") from None
    return spark_folder


def _check(folder: Path, watch: str, found: Fingerprint | None, wanted: Fingerprint) -> None:
    if found is None:
        raise Refused(f"watch {watch}: {folder / _FILE} cannot be read; {_way_out(folder)}")
    if changed := found.differences(wanted):
        raise Refused(
            f"watch {watch}: the checkpoint in {folder} is of another query "
            f"(changed: {', '.join(changed)}); take the change back, or {_way_out(folder)}"
        )


def _way_out(folder: Path) -> str:
    return (
        f"move the folder {folder} away: the watch then reads its streams from the oldest kept "
        "event, and findings that were alerted before keep their ids and are not sent again"
    )


def _read(path: Path) -> Fingerprint | None:
    try:
        parts = json.loads(path.read_text())
        return Fingerprint(**{field.name: parts[field.name] for field in fields(Fingerprint)})
    except (ValueError, KeyError, TypeError):
        return None


def _write(path: Path, wanted: Fingerprint) -> None:
    """Write so that a crash leaves either no file or a whole one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with new.open("w") as file:
        json.dump(asdict(wanted), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
