"""An object store that speaks S3, as the place of the archive."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from engine.folders import names_in
from engine.restarts import first_line
from services.backbone.errors import Refused, Transient

SCHEME: Final = "s3a"
"""As Hadoop calls its S3 client; every option of it begins with `fs.s3a.`."""

_WHO_WE_ARE: Final = "aws.credentials.provider"
_AS_AWS_DOES: Final = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
"""Environment, a pod's role, a node's role, in the order of every AWS program."""

_FOR_GOOD: Final = {
    "UnknownStoreException": "there is no such bucket: create it, or correct the address",
    "NoAuthWithAWSException": "give the archivist's pod a role, or name access.key and secret.key "
    "in ALDEBARAN_ARCHIVIST_S3_OPTIONS",
    "AccessDeniedException": "give the archivist's role or keys the right to list, read, write "
    "and delete there",
    "ClassNotFoundException": "Java finds no S3 client: ALDEBARAN_ARCHIVIST_S3_JARS names the "
    "folder of its jars, which `make setup` fetches; our Spark image has them",
}
"""What waiting does not mend, by Java's name for it, and what to do."""


def archive_place(text: str) -> str:
    """Return where the archive is, if it is a folder or an address that Spark knows.

    Raises:
        ValueError: it is neither.
    """
    parts = urlsplit(text)
    if parts.scheme in {"s3", "s3n"}:
        raise ValueError(f"write s3a://{parts.netloc}{parts.path}, as Spark calls S3")
    if "://" in text and parts.scheme != SCHEME:
        raise ValueError("a folder, or s3a://bucket/prefix")
    if parts.scheme == SCHEME and not parts.netloc:
        raise ValueError("the bucket is missing: s3a://bucket/prefix")
    return text.rstrip("/") or "/"


def on_s3(archive: str) -> bool:
    """Return whether the archive is in an object store."""
    return urlsplit(archive).scheme == SCHEME


def client_config(options: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for its S3 client.

    Another store than AWS's, named by an endpoint, is asked by paths, not by names of hosts.
    """
    own = {} if "access.key" in options else {_WHO_WE_ARE: _AS_AWS_DOES}
    if "endpoint" in options:
        own["path.style.access"] = "true"
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in (own | dict(options)).items()}


def check_reach(spark: SparkSession, folder: str) -> None:
    """Ask for what is in a folder, so that a wrong address is told before the first round.

    Raises:
        Refused: the store does not know the bucket, or does not let us in.
        Transient: the store does not answer.
    """
    try:
        names_in(spark, folder)
    except Py4JJavaError as error:
        raise refusal(folder, first_line(error)) from None


def refusal(folder: str, said: str) -> Refused | Transient:
    """Return what an error of the store means for the archivist."""
    for name, advice in _FOR_GOOD.items():
        if name in said:
            return Refused(f"archive {folder}: {said}; what to do: {advice}")
    return Transient(f"archive {folder}: {said}")
