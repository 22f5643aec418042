"""Settings: read once at start from the environment or a YAML file, frozen, secrets masked.

`ALDEBARAN_<NAME>` in the environment wins over the file named by `ALDEBARAN_SETTINGS_FILE`, that
over a file per secret in the folder `ALDEBARAN_SECRETS_DIR`, and that over the default.
"""

import json
import os
import re
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from services.backbone.errors import Refused
from services.backbone.options import SecretOptions
from services.backbone.settings_sources import SECRETS_DIR, secret_files, settings_file
from services.contracts.records import Name, describe
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES

PREFIX = "ALDEBARAN_"
EXIT_BAD_SETTINGS = 78
"""`EX_CONFIG` of sysexits.h: restarting does not help, a person must change a setting."""

_OPTIONS: Final = "_options"
"""Ends the names of settings that are passed on to a library, to which an empty text says
something."""
CONTROLS: Final = r"\x00-\x1f\x7f"
"""Signs that no header can carry, as a character class of regular expressions."""
CHANNELS_MAX = 64
Port = Annotated[int, Field(ge=1, le=65_535)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


def _one_line(secret: SecretStr) -> SecretStr:
    if re.search(f"[{CONTROLS}]", secret.get_secret_value().strip()):
        raise ValueError("a line end or another control character is in it: give it as one line")
    return secret


OneLine = Annotated[SecretStr, AfterValidator(_one_line)]
"""A secret that is sent to somebody: one that no request can carry is found at the start."""


class Settings(BaseSettings):
    """What every program can be told."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lines of less weight are not written. Spark says far more: `info` writes its warnings, and
    `debug` what it says at `info`."""
    log_format: Literal["json", "text"] = "json"
    """A line of JSON for each happening, or text for people."""
    instance: str = Field(default_factory=socket.gethostname, min_length=1, max_length=128)
    """What this process is called in logs, and as the owner of claims."""
    http_host: str = "127.0.0.1"
    """The address on which health, metrics and the program's own pages are served."""
    http_port: Port = 8080
    """Their port."""
    drain_timeout_seconds: Seconds = 10.0
    """How long a program may finish what it has in hand after SIGTERM."""

    @field_validator("*")
    @classmethod
    def _no_secret_is_blank(cls, value: Any, info: ValidationInfo) -> Any:
        """Anybody can guess a blank secret; only as a default it may be: there is none, it says.

        White space around one is none of it, as in the files of `ALDEBARAN_SECRETS_DIR`.
        """
        name = info.field_name or ""
        if name.endswith(_OPTIONS):
            return value
        if value != cls.model_fields[name].default and _has_blank_secret(value):
            raise ValueError("a blank secret protects nothing: give the secret, or leave it out")
        return _stripped(value)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the YAML file between the environment and the secret files."""
        file = InitSettingsSource(settings_cls, settings_file(os.environ))
        return init_settings, env_settings, file, file_secret_settings


def _has_blank_secret(value: object) -> bool:
    """Tell whether a value is a secret of white space at most, or has one in it."""
    if isinstance(value, SecretStr):
        return not value.get_secret_value().strip()
    if isinstance(value, BaseModel):
        return any(_has_blank_secret(each) for _, each in value)
    if isinstance(value, dict):
        return any(_has_blank_secret(each) for each in value.values())
    return isinstance(value, list | tuple) and any(_has_blank_secret(each) for each in value)


def _stripped(value: Any) -> Any:
    """Return a value of which no secret begins or ends with white space; all else as it is."""
    if isinstance(value, SecretStr):
        return SecretStr(value.get_secret_value().strip())
    if isinstance(value, BaseModel):
        changed = {name: new for name, each in value if (new := _stripped(each)) != each}
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, dict):
        return {name: _stripped(each) for name, each in value.items()}
    return type(value)(map(_stripped, value)) if isinstance(value, list | tuple) else value


class StreamsSettings(Settings):
    """Settings of a program that must know the declared streams."""

    streams_dir: Path = SHIPPED_STREAMS
    """The folder of their declarations: one name for all programs."""


class WatchesSettings(Settings):
    """Settings of a program that must know the watches."""

    watches_dir: Path = SHIPPED_WATCHES
    """The folder of their files, which the auditors follow while they run: one name for all."""


class BatchesSettings(Settings):
    """Settings of a program that must know how long auditors' batches are."""

    auditor_batch_seconds: Annotated[float, Field(ge=5, le=3600)] = 120.0
    """The length of an auditor's batch; alerts do not wait for its end. Heartbeats' program must
    know it too: within a batch an auditor may raise what it has raised no second time."""


class KafkaSettings(Settings):
    """Settings of a program that talks to Kafka."""

    kafka_bootstrap_servers: str = "127.0.0.1:19092"
    """Brokers to begin with, `host:port`, with commas between."""
    kafka_options: SecretOptions = Field(default_factory=dict)
    """More options of the Kafka client, for example `security.protocol`; values are masked."""
    kafka_group_instance_id: Annotated[str, Field(max_length=200)] = ""
    """A name that this process keeps over restarts and no other of its group has: after a
    kill it gets its partitions back at once, not when its old session is over (6 s)."""


class SparkKafkaSettings(KafkaSettings):
    """Settings of a program whose Spark talks to Kafka."""

    auditor_kafka_options: SecretOptions = Field(default_factory=dict)
    """More options of Spark's Kafka clients, which are Java's, for example `security.protocol`;
    values are masked."""


def _once_each(channels: tuple[str, ...]) -> tuple[str, ...]:
    if twice := sorted({each for each in channels if channels.count(each) > 1}):
        raise ValueError(f"named twice: {', '.join(twice)}")
    return channels


Channels = Annotated[
    tuple[Name, ...], Field(min_length=1, max_length=CHANNELS_MAX), AfterValidator(_once_each)
]


class ChannelsSettings(Settings):
    """Settings of a program that must know which channels are in use."""

    channels: Channels = ("bus", "webhook", "email")
    """The channels in use; each has a deliverer and a topic of its own."""


class LedgerSettings(Settings):
    """Settings of a program that uses the ledger."""

    postgres_url: SecretStr = SecretStr("postgresql://aldebaran@127.0.0.1:15432/aldebaran")
    """The ledger's address, `postgresql://user:password@host:port/database`; without it that of
    `make run`, whose password is missing here."""
    postgres_pool_size: Annotated[int, Field(ge=1, le=100)] = 4
    """Most connections to it of a program at once; some programs have two pools."""


@dataclass(frozen=True)
class SameAs:
    """A default: what the setting `name`, declared before it, is."""

    name: str

    def __call__(self, settings: dict[str, Any]) -> Any:
        """Return it from the settings that have been read so far."""
        return settings[self.name]


def same_as(name: str) -> Any:
    """Return the default of a setting that is what another one is."""
    return Field(default_factory=SameAs(name))


SettingsType = TypeVar("SettingsType", bound=Settings)


def read_settings(kind: type[SettingsType], **given: Any) -> SettingsType:
    """Read a program's settings, or end it with a message that names each bad one.

    What is `given`, by a command line for example, wins over everything else.
    """
    try:
        secret_files(os.environ)
        return kind(_secrets_dir=os.environ.get(SECRETS_DIR) or None, **given)
    except ValidationError as error:
        said = complaint(error)
    except SettingsError as error:
        said = _undecoded(error)
    except Refused as error:
        said = str(error)
    sys.stderr.write(f"settings cannot be used: {said}\n")
    raise SystemExit(EXIT_BAD_SETTINGS)


def complaint(error: ValidationError) -> str:
    """Name each bad setting as the user spells it."""
    parts = describe(error, limit=20).split("; ")
    return "; ".join(
        PREFIX + name.upper() + colon + rest
        for name, colon, rest in (part.partition(":") for part in parts)
    )


_FIELD: Final = re.compile(r'field "(\w+)"')


def _undecoded(error: SettingsError) -> str:
    """Name the setting whose text could not be read, or is not the JSON that it has to be."""
    cause = error.__cause__
    named = _FIELD.search(str(error))
    if named is None or cause is None:
        return str(error)
    what = "it has to be JSON: " if isinstance(cause, json.JSONDecodeError) else ""
    return f"{PREFIX}{named[1].upper()}: {what}{cause}"
