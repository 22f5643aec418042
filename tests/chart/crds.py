"""`python -m tests.chart.crds FOLDER`: writes JSON schemas of operators' objects, from their CRDs.

Nothing is fetched: FOLDER holds the operators' own files of custom resource definitions. Texts, and
rules that only an API server evaluates, are left out; a field that a definition does not know is
refused, where an API server would drop it without a word.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

SCHEMAS: Final = Path(__file__).parent / "schemas"
NEEDED: Final = {
    ("external-secrets.io/v1", "ExternalSecret"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    ("kafka.strimzi.io/v1", "Kafka"),
    ("kafka.strimzi.io/v1", "KafkaNodePool"),
    ("kafka.strimzi.io/v1", "KafkaTopic"),
    ("keda.sh/v1alpha1", "ScaledObject"),
    ("monitoring.coreos.com/v1", "PrometheusRule"),
    ("monitoring.coreos.com/v1", "ServiceMonitor"),
    ("postgresql.cnpg.io/v1", "Cluster"),
    ("spark.apache.org/v1", "SparkApplication"),
    ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
}
"""What the chart asks operators for."""

Schema = dict[str, Any]
_LEAST_AND_MOST: Final = tuple(
    bound + what for bound in ("min", "max") for what in ("imum", "Length", "Items", "Properties")
)
_ONE: Final = ("items", "additionalProperties", "not")
_SEVERAL: Final = ("anyOf", "oneOf", "allOf")
_OTHERS: Final = ("type", "properties", "required", "enum", "pattern")
_KEPT: Final = frozenset((*_OTHERS, *_ONE, *_SEVERAL, *_LEAST_AND_MOST))
_FLAG: Final = "(?i)"
"""Stands in patterns of Go, and JSON Schema has nothing like it."""
_SHARED_LENGTH: Final = 120
"""A part that is at least so long, and stands there several times, is written once."""


def file_of(version: str, kind: str) -> Path:
    """Return where the schema of a kind is."""
    return SCHEMAS / f"{kind.lower()}-{version.replace('/', '-')}.json"


def parts_replaced(schema: Schema, by: Callable[[Schema], Schema]) -> Schema:
    """Return a schema with each of its direct parts replaced."""
    made = dict(schema)
    if "properties" in made:
        made["properties"] = {name: by(part) for name, part in made["properties"].items()}
    for name in _ONE:
        if isinstance(made.get(name), dict):
            made[name] = by(made[name])
    for name in _SEVERAL:
        if name in made:
            made[name] = [by(part) for part in made[name]]
    return made


def strict(schema: Schema) -> Schema:
    """Return a definition's schema as JSON Schema has it, with unknown fields refused."""
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    kept = parts_replaced({k: v for k, v in schema.items() if k in _KEPT}, strict)
    if _FLAG in kept.get("pattern", ""):
        del kept["pattern"]
    is_open = "additionalProperties" in kept or schema.get("x-kubernetes-preserve-unknown-fields")
    if "properties" in kept and not is_open:
        kept["additionalProperties"] = False
    return kept


def text_of(schema: Schema) -> str:
    """Return a schema as it is written."""
    return json.dumps(schema, sort_keys=True, separators=(",", ":"))


class Shared:
    """Parts that stand several times in one schema."""

    def __init__(self, whole: Schema) -> None:
        self._times: Counter[str] = Counter()
        self._names: dict[str, str] = {}
        self.definitions: dict[str, Schema] = {}
        self._count(whole)

    def once(self, schema: Schema) -> Schema:
        """Return a schema whose repeated parts are references."""
        return parts_replaced(schema, self._referred)

    def _count(self, schema: Schema) -> Schema:
        text = text_of(schema)
        self._times[text] += 1
        if self._times[text] == 1:
            parts_replaced(schema, self._count)
        return schema

    def _referred(self, schema: Schema) -> Schema:
        text = text_of(schema)
        if len(text) < _SHARED_LENGTH or self._times[text] < 2:
            return self.once(schema)
        if text not in self._names:
            self._names[text] = f"part{len(self._names)}"
            self.definitions[self._names[text]] = self.once(schema)
        return {"$ref": f"#/definitions/{self._names[text]}"}


def compact(schema: Schema) -> Schema:
    """Return the same schema, with parts that repeat written once."""
    shared = Shared(schema)
    return shared.once(schema) | {"definitions": shared.definitions}


def whole(schema: Schema) -> Schema:
    """Return an object's schema: with what each has, and without what an operator writes."""
    own = {name: part for name, part in schema["properties"].items() if name != "status"}
    names = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    properties = {**names, "metadata": {"type": "object"}, **own}
    return compact({**schema, "properties": properties})


def schemas(text: str) -> Iterator[tuple[str, str, Schema]]:
    """Return API version, kind and schema of what a file defines and the chart needs."""
    for defined in yaml.load_all(text, Loader=yaml.CSafeLoader):
        spec = (defined or {}).get("spec", {"versions": []})
        for version in spec["versions"]:
            named = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            if named in NEEDED:
                yield *named, whole(strict(version["schema"]["openAPIV3Schema"]))


def main(folder: Path) -> int:
    """Write the schemas of every definition in the folder."""
    for path in sorted(folder.glob("*.yaml")):
        for version, kind, schema in schemas(path.read_text("utf-8")):
            file_of(version, kind).write_text(text_of(schema) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
