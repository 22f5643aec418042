"""The packages of a Debian system, read from what its package manager keeps of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

STATUS: Final = Path("var/lib/dpkg/status")
RELEASE: Final = Path("usr/lib/os-release")


@dataclass(frozen=True, slots=True)
class Package:
    """One installed package; `source` is what it was built from, as advisories name that.

    `distribution` is the system's name and version: `debian-12`.
    """

    name: str
    version: str
    architecture: str
    source: str
    distribution: str

    def component(self) -> dict[str, Any]:
        """Return the package as CycloneDX 1.6 has it, with the name that scanners know it by."""
        system = self.distribution.partition("-")[0]
        told = {"arch": self.architecture, "distro": self.distribution, "upstream": self.source}
        purl = (
            f"pkg:deb/{system}/{quote(self.name, safe='')}@{quote(self.version, safe=':')}"
            f"?{urlencode(told)}"
        )
        named = {"type": "library", "name": self.name, "version": self.version}
        return {**named, "bom-ref": purl, "purl": purl}


def installed(root: Path) -> Iterator[Package]:
    """Read what is installed in the system below `root`; removed packages' remains are left out."""
    distribution = distribution_of((root / RELEASE).read_text("utf-8"))
    for stanza in (root / STATUS).read_text("utf-8").strip().split("\n\n"):
        told = HeaderParser().parsestr(stanza)
        if told["Status"].endswith(" installed"):
            source = told.get("Source", told["Package"]).partition(" ")[0]
            named = (told["Package"], told["Version"], told["Architecture"])
            yield Package(*named, source, distribution)


def distribution_of(release: str) -> str:
    """Return a system's name and version by its os-release file's text: `debian-12`."""
    lines = (line.partition("=") for line in release.splitlines())
    told = {name: value.strip('"') for name, _, value in lines}
    return "-".join(told[name] for name in ("ID", "VERSION_ID") if name in told)
