from pathlib import Path
from xml.etree import ElementTree

import pytest

from services.machine.installation.ivy import (
    IvyFetch,
    find_ivy_jar,
    ivy_xml,
    maven_mirror,
    proxy_flags,
    settings_xml,
)
from services.machine.installation.jars import Jar
from services.machine.problems import MachineProblem


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)  # noqa: S314 - the text was written a line above


@pytest.mark.parametrize(
    ("environment", "flags"),
    [
        ({}, ()),
        (
            {"HTTPS_PROXY": "http://proxy.example:3128"},
            ("-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128"),
        ),
        (
            {"https_proxy": "http://user:secret@proxy.example/"},
            ("-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=80"),
        ),
        (
            {"http_proxy": "proxy.example:8080", "HTTP_PROXY": "http://other:1"},
            ("-Dhttp.proxyHost=proxy.example", "-Dhttp.proxyPort=8080"),
        ),
        (
            {"NO_PROXY": "localhost, .internal.example,10.0.0.1"},
            ("-Dhttp.nonProxyHosts=localhost|*.internal.example|10.0.0.1",),
        ),
    ],
)
def test_proxy_variables_become_flags(environment: dict[str, str], flags: tuple[str, ...]) -> None:
    assert proxy_flags(environment) == flags


@pytest.mark.parametrize(
    "address",
    ["socks5://proxy.example", "socks5://proxy.example:1080", "http://a:s3@h:port", "http://", "["],
)
def test_a_proxy_that_java_cannot_use_is_named_without_what_may_be_secret(address: str) -> None:
    with pytest.raises(MachineProblem, match="HTTPS_PROXY names none: set it to http") as raised:
        proxy_flags({"HTTPS_PROXY": address})
    assert "s3" not in str(raised.value)


def test_the_mirror_is_the_root_of_the_only_repository() -> None:
    text = settings_xml(Path("/cache"), "http://mirror.example/a?b&c")
    resolver = parsed(text).find("resolvers/ibiblio")
    assert resolver is not None
    assert resolver.get("root") == "http://mirror.example/a?b&c"
    assert parsed(settings_xml(Path("/cache"), None)).find("*/[@root]") is None


def test_nothing_is_fetched_transitively() -> None:
    listed = parsed(ivy_xml([Jar("org.example", "thing", "1.0", "0" * 64)]))
    assert [entry.attrib for entry in listed.iter("dependency")] == [
        {
            "org": "org.example",
            "name": "thing",
            "rev": "1.0",
            "transitive": "false",
            "conf": "default->*",
        }
    ]


def test_another_file_of_a_version_is_asked_for_by_its_classifier() -> None:
    listed = parsed(ivy_xml([Jar("org.example", "thing", "1.0", "0" * 64, "whole")]))
    attributes = [entry.attrib for entry in listed.iter("artifact")]
    classifier = "{http://ant.apache.org/ivy/maven}classifier"
    assert attributes == [{"name": "thing", "type": "jar", "ext": "jar", classifier: "whole"}]


MAVEN_SETTINGS = """
<settings xmlns="http://maven.apache.org/SETTINGS/1.0.0"><mirrors>
  <mirror><mirrorOf>something</mirrorOf><url>http://not.example/</url></mirror>
  <mirror><mirrorOf>central</mirrorOf><url> http://mirror.example/maven </url></mirror>
</mirrors></settings>
"""


def test_a_mirror_is_named_by_variable_or_by_mavens_settings(tmp_path: Path) -> None:
    path = tmp_path / "settings.xml"
    assert maven_mirror({}, path) is None
    path.write_text(MAVEN_SETTINGS, "utf-8")
    assert maven_mirror({}, path) == "http://mirror.example/maven"
    named = {"ALDEBARAN_MAVEN_MIRROR": "http://own.example"}
    assert maven_mirror(named, path) == "http://own.example"


@pytest.mark.parametrize(
    ("mirror_of", "is_used"),
    [
        ("*", True),
        ("external:*", True),
        ("*,!internal", True),
        ("spring, central", True),
        ("*, !central", False),
        ("external:http:*", False),
        ("", False),
    ],
)
def test_what_a_mirror_is_of_is_read_as_maven_does(
    tmp_path: Path, mirror_of: str, is_used: bool
) -> None:
    path = tmp_path / "settings.xml"
    path.write_text(MAVEN_SETTINGS.replace("central", mirror_of), "utf-8")
    assert maven_mirror({}, path) == ("http://mirror.example/maven" if is_used else None)


def test_mavens_settings_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.xml"
    path.write_text("<settings><mirrors></settings>", "utf-8")
    with pytest.raises(MachineProblem, match=r"settings\.xml may name .*mismatched tag"):
        maven_mirror({}, path)
    assert maven_mirror({"ALDEBARAN_MAVEN_MIRROR": "http://own.example"}, path)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="the system has no such file")
def test_a_file_that_the_system_does_not_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.xml"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(MachineProblem, match=r"settings\.xml may name .*Input/output error"):
        maven_mirror({}, path)


def test_ivy_comes_with_pyspark() -> None:
    assert find_ivy_jar().is_file()


def test_without_pyspark_the_user_is_told_what_to_run() -> None:
    with pytest.raises(MachineProblem, match="make setup"):
        find_ivy_jar(lambda _: None)


SUMMARY = ":: problems summary ::\n:::: WARNINGS\n"
MISSING = """{warning}
\t\tmodule not found: org.example#thing-{number};1.0

\t==== maven: tried

\t  -- artifact org.example#thing-{number};1.0!thing-{number}.jar:

\t  https://mirror.example/org/example/thing-{number}/1.0/thing-{number}-1.0.jar

"""
UNRESOLVED = "\t\t:: org.example#thing-{number};1.0: not found\n\n"
NUMBERS = range(46)


def told_of(tmp_path: Path, warning: str, error: str) -> str:
    """Return what the user reads where Ivy ends with a warning and an error for each of 46 jars."""
    said = SUMMARY
    said += "".join(MISSING.format(warning=warning, number=number) for number in NUMBERS)
    said += "\t\t::::::::::::::::::::::\n\n\t\t::  UNRESOLVED DEPENDENCIES  ::\n\n"
    said += "".join(UNRESOLVED.format(number=number) for number in NUMBERS)
    said += "\n:::: ERRORS\n" + "".join(error.format(number=number) for number in NUMBERS)
    (tmp_path / "said").write_text(said)
    java = tmp_path / "java"
    java.write_text('#!/bin/sh\ncat "${0%/*}/said"\nexit 1\n')
    java.chmod(0o755)
    (tmp_path / "jars").mkdir()
    fetch = IvyFetch(java, tmp_path / "ivy.jar", {}, tmp_path / "settings.xml")
    with pytest.raises(MachineProblem) as raised:
        fetch([Jar("org.example", "thing-0", "1.0", "0" * 64)], tmp_path / "jars")
    return str(raised.value)


def test_a_warning_that_comes_with_each_jar_is_told_once_and_first(tmp_path: Path) -> None:
    first, reason, *more = told_of(tmp_path, "\tCertificate is no good", "").splitlines()
    assert first.endswith("Ivy said:")
    assert reason == "Certificate is no good"
    assert more[0] == "module not found: org.example#thing-0;1.0"
    assert len(more) == 14


def test_an_error_that_comes_after_all_warnings_is_told_before_them(tmp_path: Path) -> None:
    error = "\tServer access error at url https://mirror.example/{number}.jar (refused)\n"
    _, reason, *_ = told_of(tmp_path, "", error).splitlines()
    assert reason == "Server access error at url https://mirror.example/0.jar (refused)"


def test_where_a_proxy_asks_for_a_password_a_mirror_is_named(tmp_path: Path) -> None:
    told = told_of(tmp_path, "\tYour proxy requires authentication.", "")
    assert "name a mirror by ALDEBARAN_MAVEN_MIRROR" in told
    assert "\nYour proxy requires authentication.\n" in told
