"""Where the archive may be, and what is told of a store that cannot be used."""

import pytest
from pydantic import SecretStr

from archivist.settings import ArchivistSettings
from archivist.store import client_config, on_s3, refusal
from services.backbone.errors import Refused, Transient


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("/data/archive", "/data/archive"),
        ("/data/archive/", "/data/archive"),
        ("/", "/"),
        ("here", "here"),
        ("s3a://bucket", "s3a://bucket"),
        ("s3a://bucket/a/b/", "s3a://bucket/a/b"),
    ],
)
def test_places(text: str, place: str) -> None:
    assert ArchivistSettings(archivist_archive=text).archivist_archive == place


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("s3://bucket/a", "write s3a://bucket/a"),
        ("s3a:///a", "the bucket is missing"),
        ("gs://bucket/a", "a folder, or s3a://bucket/prefix"),
    ],
)
def test_other_addresses_are_refused_with_advice(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        ArchivistSettings(archivist_archive=text)


def test_only_an_archive_on_s3_needs_the_s3_client() -> None:
    folders = {"archivist_jars": "/jars/spark", "archivist_s3_jars": "/jars/s3"}
    for archive, count in (("/data", 1), ("s3a://bucket", 2)):
        settings = ArchivistSettings.model_validate({"archivist_archive": archive, **folders})
        assert len(settings.jars()) == count
        assert on_s3(archive) == (count == 2)


def test_a_role_is_asked_for_unless_there_are_keys() -> None:
    assert client_config({}) == {
        "spark.hadoop.fs.s3a.aws.credentials.provider": (
            "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
        )
    }
    assert client_config({"access.key": "k"}) == {"spark.hadoop.fs.s3a.access.key": "k"}


def test_what_is_written_wins() -> None:
    name = "spark.hadoop.fs.s3a.path.style.access"
    assert client_config({"endpoint": "https://minio"})[name] == "true"
    assert client_config({"endpoint": "e", "path.style.access": "false"})[name] == "false"


def test_keys_are_not_shown() -> None:
    settings = ArchivistSettings(archivist_s3_options={"secret.key": SecretStr("hidden")})
    assert "hidden" not in repr(settings)
    assert settings.s3_options() == {"secret.key": "hidden"}


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("org.apache.hadoop.fs.s3a.UnknownStoreException: `s3a://b'", Refused),
        ("java.nio.file.AccessDeniedException: s3a://b: 403", Refused),
        ("java.nio.file.AccessDeniedException: s3a://b: NoAuthWithAWSException", Refused),
        ("java.lang.ClassNotFoundException: S3AFileSystem", Refused),
        ("java.net.ConnectException: refused", Transient),
    ],
)
def test_only_what_waiting_does_not_mend_is_refused(said: str, kind: type[Exception]) -> None:
    made = refusal("s3a://b", said)
    assert type(made) is kind
    assert said in str(made)
    assert ("what to do" in str(made)) == (kind is Refused)
