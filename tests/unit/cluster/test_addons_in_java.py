"""Add-ons of a git repository that Maven builds: what is fetched and put into the image."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from services.machine.problems import MachineProblem
from tests.cluster.addons.addon import Addon
from tests.cluster.addons.apache_spark_operator import APACHE_SPARK_OPERATOR, values
from tests.cluster.addons.building import image_command, unpack
from tests.cluster.addons.maven_tree import MavenTree
from tests.cluster.addons.workshop import Workshop

MAVEN = """#!/bin/sh
test "$*" = "-B -q clean package" || exit 2
test -f pom.xml || exit 3
mkdir -p target/lib
echo classes > target/lib/lamp.jar
"""


def git(folder: Path, *arguments: str) -> str:
    """Run git there, as nobody in particular."""
    command = ("git", "-c", "user.name=n", "-c", "user.email=n@example.com", *arguments)
    made = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return made.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> MavenTree:
    """A repository with a tag, and what is pinned of it."""
    if shutil.which("git") is None:
        pytest.skip("git is missing: apt-get install git")
    home = tmp_path / "home"
    home.mkdir()
    git(home, "init", "--quiet")
    (home / "start.sh").write_text("#!/bin/sh\n")
    (home / "start.sh").chmod(0o755)
    git(home, "add", ".")
    git(home, "commit", "--quiet", "--message", "first")
    git(home, "tag", "1.0.0")
    (tmp_path / "lamp.xml").write_text("<project/>")
    return MavenTree(
        repository=str(home),
        version="1.0.0",
        commit=git(home, "rev-parse", "HEAD"),
        build=tmp_path / "lamp.xml",
        files={"/lamp/start.sh": "start.sh", "/lamp/lib": "target/lib"},
    )


def lamp(origin: MavenTree) -> Addon:
    """Return an add-on of it."""
    return Addon("lamp", origin, "chart", install=lambda addon, folder: None, folder="/lamp")


def test_takes_the_pinned_commit_once(tree: MavenTree, tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "shop")
    assert (unpack(shop, lamp(tree)) / "start.sh").exists()
    away = replace(tree, repository="/nowhere")
    assert unpack(shop, lamp(away)) == tmp_path / "shop/lamp-1.0.0/source"


def test_takes_no_other_commit_under_that_tag(tree: MavenTree, tmp_path: Path) -> None:
    with pytest.raises(MachineProblem, match=r"commit [0-9a-f]{40}, and tests/.* says 0000"):
        unpack(Workshop(tmp_path / "shop"), lamp(replace(tree, commit="0000")))


def test_a_clone_stands_in_for_the_repository(tree: MavenTree, tmp_path: Path) -> None:
    away = replace(tree, repository="https://example.com/nothing")
    unpack(Workshop(tmp_path / "shop", source=tree.repository), lamp(away))


def test_what_is_built_lies_at_its_place_in_the_image(tree: MavenTree, tmp_path: Path) -> None:
    maven = tmp_path / "mvn"
    maven.write_text(MAVEN)
    maven.chmod(0o755)
    shop, image = Workshop(tmp_path / "shop", maven=str(maven)), tmp_path / "image"
    for _ in range(2):
        tree.make(shop, unpack(shop, lamp(tree)), image)
    assert (image / "lamp/lib/lamp.jar").read_text() == "classes\n"
    assert (image / "lamp/start.sh").stat().st_mode & 0o111
    assert {"ENTRY=/lamp/start.sh", "FOLDER=/lamp"} <= set(image_command(shop, lamp(tree)))


def test_without_maven_says_how_to_get_it(tree: MavenTree, tmp_path: Path) -> None:
    with pytest.raises(MachineProblem, match="apt-get install maven"):
        tree.make(Workshop(tmp_path), tmp_path, tmp_path / "image")


def test_apaches_operator_is_built_as_the_version_that_is_pinned() -> None:
    origin = APACHE_SPARK_OPERATOR.origin
    assert isinstance(origin, MavenTree)
    assert re.fullmatch("[0-9a-f]{40}", origin.commit)
    assert f"<version>{origin.version}</version>" in origin.build.read_text("utf-8")


def test_apaches_operator_is_told_our_image_its_jars_and_to_work_everywhere() -> None:
    told = values("aldebaran-test/apache-spark-operator:0.8.0")
    repository = "aldebaran-test/apache-spark-operator"
    assert told["image"] == {"repository": repository, "tag": "0.8.0"}
    pod = told["operatorDeployment"]["operatorPod"]["operatorContainer"]
    assert {"name": "SPARK_OPERATOR_JAR", "value": "lib/*"} in pod["env"]
    watched = told["operatorConfiguration"]["spark-operator.properties"]
    assert watched == "spark.kubernetes.operator.watchedNamespaces=*\n"
    assert told["workloadResources"]["namespaces"]["overrideWatchedNamespaces"] is False
