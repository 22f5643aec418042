"""What is drawn by chance can be drawn once and brought: then each rendering is the same."""

import re
import subprocess
from pathlib import Path

import yaml

from tests.chart.rendering import HELM, ROOT, Object, helm, needs_helm, rendered, setting

pytestmark = needs_helm

DRAWN = {
    "keys": "templates/security/keys.yaml",
    "links": "templates/security/links.yaml",
    "postgres": "templates/postgres/secret.yaml",
}
"""What the guide says to render alone, and keep."""
WITH_LINKS = "components.callbacks.enabled=true"


def drawn_alone() -> dict[str, Object]:
    """Return the Secrets that the guide's command makes, by what they are for."""
    only = [text for template in DRAWN.values() for text in ("-s", template)]
    made = helm(*only, *setting(WITH_LINKS))
    assert made.returncode == 0, made.stderr
    objects = [each for each in yaml.safe_load_all(made.stdout) if each]
    assert {each["kind"] for each in objects} == {"Secret"}
    return {each["metadata"]["name"].rpartition("-")[2]: each for each in objects}


def test_the_guide_draws_all_that_is_drawn() -> None:
    kept = drawn_alone()
    assert kept.keys() == DRAWN.keys()
    made = {
        each["metadata"]["name"]
        for each in rendered(*setting(WITH_LINKS))
        if each["kind"] == "Secret"
    }
    assert made == {each["metadata"]["name"] for each in kept.values()}


def test_what_was_drawn_once_is_not_drawn_again() -> None:
    kept = drawn_alone()
    named = (f"{what}.existingSecret={kept[what]['metadata']['name']}" for what in DRAWN)
    objects = rendered(*setting(WITH_LINKS, *named))
    assert not [each for each in objects if each["kind"] == "Secret"]


def test_the_database_takes_keys_that_the_guide_has_drawn() -> None:
    (pod,) = (
        each["spec"]["template"]["spec"]
        for each in rendered(*setting("postgres.existingSecret=kept"))
        if each["metadata"]["name"] == "t-aldebaran-postgres" and each["kind"] == "StatefulSet"
    )
    (password,) = (each["secret"] for each in pod["volumes"] if each["name"] == "password")
    assert password["secretName"] == "kept"
    asked = {item["key"] for item in password["items"]} | {"aldebaran_postgres_url"}
    assert asked == drawn_alone()["postgres"]["stringData"].keys()


def test_the_guides_command_makes_secrets_that_argo_cd_leaves_alone(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "kubernetes.md").read_text("utf-8")
    told = re.search(r"^helm (template .*?) \| kubectl -n aldebaran create", guide, re.M | re.S)
    assert told
    (values := tmp_path / "values.yaml").touch()
    command = f"{HELM} {told[1]}".replace("my-values.yaml", str(values))
    made = subprocess.run(
        ["/bin/bash", "-c", command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    secrets = {each["metadata"]["name"]: each for each in yaml.safe_load_all(made.stdout)}
    assert secrets.keys() == {"aldebaran-keys", "aldebaran-postgres"}
    for each in secrets.values():
        assert each["stringData"]
        assert "app.kubernetes.io/instance" not in each["metadata"]["labels"]
