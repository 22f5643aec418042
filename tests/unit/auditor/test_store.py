"""Where the archive may be, and what is told of a store that cannot be used."""

import pytest
from pydantic import SecretStr

from archivist.settings import ArchivistSettings
from auditor.settings import AuditorSettings
from engine.store import client_config, refusal
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


def test_only_files_on_s3_need_the_s3_client() -> None:
    folders = {"archivist_jars": "/jars/spark", "auditor_jars": "/jars/spark", "s3_jars": "/s3"}
    for archive, store, count in (("/data", "", 1), ("s3a://bucket", "s3a://bucket", 2)):
        places = {"archivist_archive": archive, "auditor_store": store}
        assert len(ArchivistSettings.model_validate(places | folders).jars()) == count
        assert len(AuditorSettings.model_validate(places | folders).jars()) == count


@pytest.mark.parametrize("text", ["/data", "s3://bucket", "s3a:///a"])
def test_checkpoints_go_to_a_store_or_to_none(text: str) -> None:
    with pytest.raises(ValueError, match="s3a://"):
        AuditorSettings(auditor_store=text)


def test_each_auditor_and_watch_has_its_own_part() -> None:
    settings = AuditorSettings(auditor_store="s3a://bucket/desk/", auditor_id="b")
    assert settings.store_here("w") == "s3a://bucket/desk/b/w"
    assert AuditorSettings().store_here("w") == ""


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
    settings = ArchivistSettings(s3_options={"secret.key": SecretStr("hidden")})
    assert "hidden" not in repr(settings)
    assert settings.store_config()["spark.hadoop.fs.s3a.secret.key"] == "hidden"


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
