"""Every Debian package of an image is listed, with the name by which scanners know it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from services.machine.installation.debian import (
    RELEASE,
    STATUS,
    Package,
    distribution_of,
    installed,
)
from services.machine.installation.inventory import main

DEBIAN_12 = 'PRETTY_NAME="Debian 12"\nVERSION_ID="12"\n\nID=debian\nHOME_URL="https://a/?b=c"\n'
DPKG_QUERY = shutil.which("dpkg-query")
PACKAGES = """Package: libssl3
Status: install ok installed
Architecture: amd64
Source: openssl (3.0.1)
Version: 3.0.1-1+deb12u1
Description: a library
 Status: of a line that goes on

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1

Package: libstdc++6
Status: install ok installed
Architecture: amd64
Version: 1:12.2.0-14~x
"""


def system(root: Path) -> Path:
    """Write a system of two packages, and what is left of a third."""
    for path, text in ((STATUS, PACKAGES), (RELEASE, DEBIAN_12)):
        (root / path).parent.mkdir(parents=True)
        (root / path).write_text(text)
    return root


def test_what_is_installed_is_found_with_what_it_was_built_from(tmp_path: Path) -> None:
    assert list(installed(system(tmp_path))) == [
        Package("libssl3", "3.0.1-1+deb12u1", "amd64", "openssl", "debian-12"),
        Package("libstdc++6", "1:12.2.0-14~x", "amd64", "libstdc++6", "debian-12"),
    ]


def test_a_package_is_named_as_scanners_do() -> None:
    component = Package("libstdc++6", "1:12.2+b1~x", "amd64", "gcc-12", "debian-12").component()
    assert component["purl"] == component["bom-ref"]
    assert component["purl"] == (
        "pkg:deb/debian/libstdc%2B%2B6@1:12.2%2Bb1~x?arch=amd64&distro=debian-12&upstream=gcc-12"
    )


def test_a_system_without_a_version_is_named_all_the_same() -> None:
    assert distribution_of("ID=debian\n") == "debian"


def test_they_stand_behind_what_is_listed(tmp_path: Path) -> None:
    file = tmp_path / "sbom.json"
    file.write_text('{"components": [{"name": "pyspark"}]}')
    main([str(file), "--system", str(system(tmp_path / "root"))])
    components = json.loads(file.read_text())["components"]
    assert [each["name"] for each in components] == ["pyspark", "libssl3", "libstdc++6"]


@pytest.mark.skipif(DPKG_QUERY is None, reason="not a Debian system")
def test_the_package_manager_itself_counts_as_many() -> None:
    form = "${db:Status-Status} ${Package} ${Version}\n"
    said = subprocess.run([str(DPKG_QUERY), "-W", "-f", form], capture_output=True, check=True)
    counted = [line.removeprefix("installed ") for line in said.stdout.decode().splitlines()]
    expected = sorted(line for line in counted if not line.startswith(("config-files", "not-")))
    assert sorted(f"{each.name} {each.version}" for each in installed(Path("/"))) == expected
