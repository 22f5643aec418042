"""An object store that speaks S3, as a place of Spark's files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr
from pyspark.sql import SparkSession

from engine.folders import is_remote, names_in
from services.backbone.errors import Refused, Transient
from services.backbone.settings import KafkaSettings

SCHEME: Final = "s3a"
"""As Hadoop calls its S3 client; every option of it begins with `fs.s3a.`."""

_WHO_WE_ARE: Final = "aws.credentials.provider"
_AS_AWS_DOES: Final = "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"
"""Environment, a pod's role, a node's role, in the order of every AWS program."""

_FOR_GOOD: Final = {
    "UnknownStoreException": "there is no such bucket: create it, or correct the address",
    "NoAuthWithAWSException": "give the pod a role, or name access.key and secret.key "
    "in ALDEBARAN_S3_OPTIONS",
    "AccessDeniedException": "give the role or the keys the right to list, read, write and "
    "delete there",
    "ClassNotFoundException": "Java finds no S3 client: ALDEBARAN_S3_JARS names the folder of its "
    "jars, which `make setup` fetches; our Spark image has them",
}
"""What waiting does not mend, by Java's name for it, and what to do."""


def place(text: str) -> str:
    """Return a place of files, if it is a folder or an address that Spark knows.

    Raises:
        ValueError: it is neither.
    """
    parts = urlsplit(text)
    if parts.scheme in {"s3", "s3n"}:
        raise ValueError(f"write s3a://{parts.netloc}{parts.path}, as Spark calls S3")
    if is_remote(text) and parts.scheme != SCHEME:
        raise ValueError("a folder, or s3a://bucket/prefix")
    if parts.scheme == SCHEME and not parts.netloc:
        raise ValueError("the bucket is missing: s3a://bucket/prefix")
    return text.rstrip("/") or "/"


def address(text: str) -> str:
    """Return a place in a store, or nothing where none is named.

    Raises:
        ValueError: it is a folder, or no address that Spark knows.
    """
    if text and not is_remote(text):
        raise ValueError("s3a://bucket/prefix, or nothing")
    return place(text) if text else ""


Place = Annotated[str, AfterValidator(place)]
Address = Annotated[str, AfterValidator(address)]


class StoreSettings(KafkaSettings):
    """Settings of a Spark application whose files may lie in a store."""

    s3_options: dict[str, SecretStr] = Field(default_factory=dict)
    """Options of Hadoop's S3 client without their `fs.s3a.`, for example `endpoint`,
    `endpoint.region`, `access.key` and `secret.key`; values are masked."""
    s3_jars: Path | None = None
    """Folder of the S3 client's jars; unset where Spark already has them."""

    def store_config(self) -> dict[str, str]:
        """Return Spark's settings for its S3 client."""
        options = self.s3_options.items()
        return client_config({name: value.get_secret_value() for name, value in options})

    def jars_for(self, connector: Path | None, *places: str) -> tuple[Path, ...]:
        """Return the folders of libraries that Spark gets from us; a store needs more of them."""
        client = self.s3_jars if any(is_remote(each) for each in places) else None
        return tuple(folder for folder in (connector, client) if folder)


def client_config(options: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for its S3 client.

    Another store than AWS's, named by an endpoint, is asked by paths, not by names of hosts.
    """
    own = {} if "access.key" in options else {_WHO_WE_ARE: _AS_AWS_DOES}
    if "endpoint" in options:
        own["path.style.access"] = "true"
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in (own | dict(options)).items()}


def check_reach(spark: SparkSession, what: str, folder: str) -> None:
    """Ask for what is in a folder, so that a wrong address is told before anything is written.

    Raises:
        Refused: the store does not know the bucket, or does not let us in.
        Transient: the store does not answer.
    """
    try:
        names_in(spark, folder)
    except OSError as error:
        raise refusal(f"{what} {folder}", str(error)) from None


def refusal(what: str, said: str) -> Refused | Transient:
    """Return what an error of the store means for a program that is starting."""
    for name, advice in _FOR_GOOD.items():
        if name in said:
            return Refused(f"{what}: {said}; what to do: {advice}")
    return Transient(f"{what}: {said}")
