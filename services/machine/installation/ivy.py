"""Fetches jars with Apache Ivy, which comes inside pyspark and knows the public Maven repository.

Usual settings are honoured: HTTP_PROXY, HTTPS_PROXY and NO_PROXY, a mirror named by
ALDEBARAN_MAVEN_MIRROR or by ~/.m2/settings.xml.
"""

import importlib.util
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from services.machine.installation.jars import Jar
from services.machine.problems import MachineProblem

FETCH_TIMEOUT_SECONDS = 900
FETCH_TRIES = 3
DEFAULT_PROXY_PORT = {"http": 80, "https": 443}
OUTPUT_LINES_SHOWN = 15
_WITHOUT_REASON = re.compile(r"$|:|==== |-- artifact |https?://\S+$|NOTE: ")
_MISSING = "module not found: "
_CHECK = "check the network, HTTPS_PROXY and ALDEBARAN_MAVEN_MIRROR"
_NO_LOGIN = (
    "a proxy with name and password is not supported for jars:"
    " name a mirror by ALDEBARAN_MAVEN_MIRROR"
)


@dataclass(frozen=True)
class IvyFetch:
    """A `jars.Fetch`: brings jars by their coordinates, without anything they depend on.

    `java` is the Java program, `ivy_jar` Ivy itself. The mirror and the proxies are looked for when
    there is something to fetch: until then nothing that is wrong with them matters.
    """

    java: Path
    ivy_jar: Path
    environment: Mapping[str, str]
    maven_settings: Path

    def __call__(self, jars: Sequence[Jar], folder: Path) -> None:
        """Put each jar into `folder` under its file name, trying a bounded number of times."""
        mirror = maven_mirror(self.environment, self.maven_settings)
        java = [str(self.java), *proxy_flags(self.environment)]
        work = folder.resolve() / "ivy"
        work.mkdir()
        (work / "settings.xml").write_text(settings_xml(work / "cache", mirror), "utf-8")
        (work / "ivy.xml").write_text(ivy_xml(jars), "utf-8")
        output = ""
        for _ in range(FETCH_TRIES):
            finished = self._run(java, work, folder.resolve())
            if finished.returncode == 0:
                return
            output = finished.stdout
        remedy = _NO_LOGIN if "requires authentication" in output else _CHECK
        raise MachineProblem(
            f"fetching {len(jars)} jars failed {FETCH_TRIES} times; {remedy}."
            f" Ivy said:\n{reasons(output)}"
        )

    def _run(
        self, java: Sequence[str], work: Path, folder: Path
    ) -> subprocess.CompletedProcess[str]:
        command = [
            *java,
            f"-Divy.default.ivy.user.dir={work}",
            *("-jar", str(self.ivy_jar), "-warn"),
            *("-settings", str(work / "settings.xml"), "-ivy", str(work / "ivy.xml")),
            *("-retrieve", f"{folder}/[artifact]-[revision](-[classifier]).[ext]"),
        ]
        try:
            return subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=FETCH_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            said = f"no end after {FETCH_TIMEOUT_SECONDS} seconds"
            return subprocess.CompletedProcess(command, returncode=1, stdout=said)


def reasons(output: str) -> str:
    """Return what Ivy gives as reasons, each once; the jars that are missing stand behind them."""
    said = dict.fromkeys(line.strip() for line in output.splitlines())
    told = [line for line in said if not _WITHOUT_REASON.match(line)]
    told.sort(key=lambda line: line.startswith(_MISSING))
    return "\n".join(told[:OUTPUT_LINES_SHOWN])


def settings_xml(cache: Path, mirror: str | None) -> str:
    """Write Ivy's settings: one repository in Maven's layout, its cache in `cache`."""
    root = f" root={quoteattr(mirror)}" if mirror else ""
    return (
        '<ivysettings><settings defaultResolver="maven"/>'
        f"<caches defaultCacheDir={quoteattr(str(cache))}/>"
        f'<resolvers><ibiblio name="maven" m2compatible="true" usepoms="false"{root}/></resolvers>'
        "</ivysettings>"
    )


def ivy_xml(jars: Sequence[Jar]) -> str:
    """Write Ivy's list of what to fetch; nothing in it is transitive."""
    entries = "".join(
        f"<dependency org={quoteattr(jar.group)} name={quoteattr(jar.artifact)}"
        f' rev={quoteattr(jar.version)} transitive="false" conf="default->*">'
        f"{_artifact(jar)}</dependency>"
        for jar in jars
    )
    return (
        '<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">'
        '<info organisation="aldebaran" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{entries}</dependencies></ivy-module>"
    )


def _artifact(jar: Jar) -> str:
    if not jar.classifier:
        return ""
    name, classifier = quoteattr(jar.artifact), quoteattr(jar.classifier)
    return f'<artifact name={name} type="jar" ext="jar" m:classifier={classifier}/>'


def proxy_flags(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Translate the usual proxy variables into Java's flags.

    Raises MachineProblem where one of them names nothing that Java can fetch through.
    """
    flags = []
    for scheme in ("http", "https"):
        for name in (f"{scheme}_proxy", f"{scheme.upper()}_PROXY"):
            if value := environment.get(name):
                host, port = _proxy(name, value)
                flags += [f"-D{scheme}.proxyHost={host}", f"-D{scheme}.proxyPort={port}"]
                break
    without = environment.get("no_proxy") or environment.get("NO_PROXY")
    if without:
        hosts = [host.strip() for host in without.split(",") if host.strip()]
        patterns = [f"*{host}" if host.startswith(".") else host for host in hosts]
        flags.append(f"-Dhttp.nonProxyHosts={'|'.join(patterns)}")
    return tuple(flags)


def _proxy(name: str, value: str) -> tuple[str, int]:
    """Return host and port; the problem tells no value, as there may be a password in it."""
    try:
        address = urlsplit(value if "://" in value else f"http://{value}")
        port = address.port or DEFAULT_PROXY_PORT.get(address.scheme)
    except ValueError:  # no number, or none of a port
        address, port = urlsplit(""), None
    if address.scheme not in DEFAULT_PROXY_PORT or not address.hostname or port is None:
        raise MachineProblem(
            f"jars are fetched through an HTTP proxy only, and {name} names none:"
            " set it to http://HOST:PORT"
        )
    return address.hostname, port


def maven_mirror(environment: Mapping[str, str], maven_settings: Path) -> str | None:
    """Find a mirror of the public repository: the variable first, then Maven's own settings."""
    named = environment.get("ALDEBARAN_MAVEN_MIRROR")
    if named:
        return named
    for mirror in _mirrors(maven_settings):
        if _is_of_central(mirror.findtext("{*}mirrorOf") or ""):
            return (mirror.findtext("{*}url") or "").strip() or None
    return None


def _mirrors(maven_settings: Path) -> list[ElementTree.Element]:
    try:
        if not maven_settings.is_file():
            return []
        tree = ElementTree.parse(maven_settings)  # noqa: S314 - the user's own settings are trusted
    except (ElementTree.ParseError, OSError) as error:
        raise MachineProblem(
            f"{maven_settings} may name a mirror for jars, and cannot be read ({error}):"
            " mend it, or name a repository by ALDEBARAN_MAVEN_MIRROR"
        ) from None
    return tree.findall(".//{*}mirror")


def _is_of_central(mirror_of: str) -> bool:
    """Read a list as Maven does: `!central` in it leaves the public repository out."""
    listed = {each.strip() for each in mirror_of.split(",")}
    return "!central" not in listed and not listed.isdisjoint({"*", "central", "external:*"})


def find_ivy_jar(find: Callable[[str], object] = importlib.util.find_spec) -> Path:
    """Return Ivy's jar inside the installed pyspark; raises MachineProblem where it is not."""
    spec = find("pyspark")
    origin = getattr(spec, "origin", None)
    found = sorted(Path(origin).parent.glob("jars/ivy-*.jar")) if origin else []
    if not found:
        raise MachineProblem("pyspark with its Ivy jar is not installed; run `make setup`")
    return found[-1]
