"""Which kind of trouble Spark's messages tell of; the texts are Spark 4.3.0's own."""

import pytest

from auditor.trouble import Trouble, judge

TOLD = [
    ("[STREAMING_REAL_TIME_MODE.SINK_NOT_SUPPORTED] x SQLSTATE: 0A000", Trouble.REFUSED),
    ("[CAST_INVALID_INPUT] The value 'X' cannot be cast. SQLSTATE: 22018", Trouble.RECORD),
    ("[ARITHMETIC_OVERFLOW] long overflow. SQLSTATE: 22003", Trouble.RECORD),
    ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", Trouble.RECORD),
    ("[USER_RAISED_EXCEPTION] no. SQLSTATE: P0001", Trouble.RECORD),
    (
        "Some data may have been lost because they are not available in Kafka any more",
        Trouble.LOST_RECORDS,
    ),
    ("[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error SQLSTATE: 58030", Trouble.CHECKPOINT),
    ("[STREAMING_CHECKPOINT_MISSING_METADATA_FILE] Checkpoint location", Trouble.CHECKPOINT),
    (
        "[STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY] Cannot restart SQLSTATE: 42K03",
        Trouble.CHECKPOINT,
    ),
    ("Failed to read log file offsets/4. Incomplete log file", Trouble.CHECKPOINT),
    (
        "Unexpected end-of-input in field name\n at [Source: REDACTED "
        "(`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: 1, column: 577]",
        Trouble.CHECKPOINT,
    ),
    ("Connection to streaming shuffle writer 38 closed before termination", Trouble.OUTSIDE),
    ("Multiple streaming queries are concurrently using commits", Trouble.OUTSIDE),
    (
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error SQLSTATE: 58030\n"
        "software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request",
        Trouble.OUTSIDE,
    ),
    ("java.io.IOException: No space left on device", Trouble.OUTSIDE),
    ("org.apache.kafka.common.errors.TimeoutException: Timeout expired", Trouble.OUTSIDE),
    ("", Trouble.OUTSIDE),
]


@pytest.mark.parametrize(("text", "trouble"), TOLD)
def test_kinds(text: str, trouble: Trouble) -> None:
    assert judge(text) is trouble


def test_full_disk_is_no_broken_checkpoint() -> None:
    text = "[CANNOT_WRITE_STATE_STORE] state SQLSTATE: 42K03\nIOException: No space left on device"
    assert judge(text) is Trouble.OUTSIDE
