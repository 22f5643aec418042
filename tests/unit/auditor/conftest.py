"""One Spark for all tests of the auditor's logic, set up as the auditor sets it up."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from auditor.session import open_session
from auditor.settings import AuditorSettings


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session with two threads."""
    session = open_session(AuditorSettings(auditor_slots=2, auditor_heap="768m"))
    yield session
    session.stop()
