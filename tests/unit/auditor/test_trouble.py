"""Which kind of trouble Spark's messages tell of; the texts are Spark 4.3.0's own."""

import json
import zipfile

import pytest

from auditor.trouble import Trouble, judge, not_begun, outside
from engine.spark_classes import SPARK
from tests.unit.auditor.our_shuffle import our_shuffle_says

TOLD = [
    ("[STREAMING_REAL_TIME_MODE.SINK_NOT_SUPPORTED] x SQLSTATE: 0A000", Trouble.REFUSED),
    ("[CAST_INVALID_INPUT] The value 'X' cannot be cast. SQLSTATE: 22018", Trouble.RECORD),
    ("[ARITHMETIC_OVERFLOW] long overflow. SQLSTATE: 22003", Trouble.RECORD),
    ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", Trouble.RECORD),
    ("[USER_RAISED_EXCEPTION] no. SQLSTATE: P0001", Trouble.RECORD),
    ("[DUPLICATED_MAP_KEY] Duplicate map key a was found. SQLSTATE: 23505", Trouble.RECORD),
    ("[INVALID_FORMAT.ESC_IN_THE_MIDDLE] The format is invalid. SQLSTATE: 42601", Trouble.RECORD),
    ("[COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER] Can't SQLSTATE: 54000", Trouble.RECORD),
    ("java.util.regex.PatternSyntaxException: Unclosed group near index 4", Trouble.RECORD),
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


SIGNS = [
    "org.apache.kafka.clients.consumer.OffsetOutOfRangeException",
    "[KAFKA_DATA_LOSS.ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO]",
    "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED]",
    "java.io.IOException: No space left on device",
    "[STREAMING_REAL_TIME_MODE.SINK_NOT_SUPPORTED]",
]


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(
    "raised",
    [
        "[CAST_INVALID_INPUT] The value '{}' SQLSTATE: 22018",
        "[USER_RAISED_EXCEPTION] {} SQLSTATE: P0001",
    ],
)
def test_what_a_record_says_is_no_sign_of_anything_else(raised: str, sign: str) -> None:
    text = f"[STREAM_FAILED] Query [id = 1] ended: {raised.format(sign)}"
    assert judge(text) is Trouble.RECORD
    assert judge(sign) is not Trouble.RECORD


def test_records_that_are_gone_are_of_a_class_for_data_and_still_known() -> None:
    text = "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Starting offset was changed. SQLSTATE: 22000"
    assert judge(text) is Trouble.LOST_RECORDS


UNLOADED = "CANNOT_LOAD_STATE_STORE"
NOT_THE_CHECKPOINT = {
    "FAILED_TO_GET_CHANGELOG_WRITER",
    "HDFS_STORE_PROVIDER_OUT_OF_MEMORY",
    "INVALID_CHANGE_LOG_WRITER_VERSION",
    "ROCKSDB_STORE_PROVIDER_OUT_OF_MEMORY",
    "UNRELEASED_THREAD_ERROR",
}
"""What memory, a task that hangs, or the next write say: nothing kept is wrong."""
BROKEN = {
    "AUTO_SNAPSHOT_REPAIR_FAILED",
    "CANNOT_FIND_BASE_SNAPSHOT_CHECKPOINT",
    "CANNOT_READ_CHECKPOINT",
    "CANNOT_READ_DELTA_FILE_KEY_SIZE",
    "CANNOT_READ_DELTA_FILE_NOT_EXISTS",
    "CANNOT_READ_MISSING_SNAPSHOT_FILE",
    "CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE",
    "CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE",
    "CANNOT_READ_STREAMING_STATE_FILE",
    "INVALID_CHANGE_LOG_READER_VERSION",
    "INVALID_CHECKPOINT_LINEAGE",
    "KEY_ROW_FORMAT_VALIDATION_FAILURE",
    "SNAPSHOT_PARTITION_ID_NOT_FOUND",
    "UNCATEGORIZED",
    "UNEXPECTED_FILE_SIZE",
    "UNEXPECTED_VERSION",
    "VALUE_ROW_FORMAT_VALIDATION_FAILURE",
}
"""What lies in the checkpoint is missing, of another size, or of a form that Spark cannot read."""


def test_each_reason_that_state_cannot_be_loaded_for_is_known() -> None:
    (jar,) = (SPARK / "jars").glob("spark-common-utils_*.jar")
    with zipfile.ZipFile(jar) as opened:
        listed = json.loads(opened.read("error/error-conditions.json"))
    assert set(listed[UNLOADED]["subClass"]) == NOT_THE_CHECKPOINT | BROKEN


@pytest.mark.parametrize("reason", sorted(NOT_THE_CHECKPOINT | BROKEN))
def test_state_that_cannot_be_loaded(reason: str) -> None:
    text = f"[{UNLOADED}.{reason}] An error occurred during loading state. SQLSTATE: 58030"
    assert (judge(text) is Trouble.CHECKPOINT) == (reason in BROKEN)
    assert (judge(text) is Trouble.OUTSIDE) == (reason in NOT_THE_CHECKPOINT)


BLAMED = [
    ("java.io.IOException: No space left on device", "disk"),
    ("java.io.FileNotFoundException: .../000012.sst (Too many open files)", "too many files"),
    ("java.io.IOException: mkdir of file:/tmp/aldebaran-trial-x/commits failed", "disk"),
    ("[STREAMING_CHECKPOINT_LOG_WRITE_FAILURE.OFFSET_LOG] Failed to write offset log", "disk"),
    ("software.amazon.awssdk.core.exception.SdkClientException: Unable to execute", "store"),
    ("[CANNOT_LOAD_STATE_STORE.ROCKSDB_STORE_PROVIDER_OUT_OF_MEMORY] Could not load", "memory"),
    ("java.lang.OutOfMemoryError: Java heap space", "memory"),
    ("[CANNOT_LOAD_STATE_STORE.UNRELEASED_THREAD_ERROR] RocksDB could not be acquired", "holds"),
    ("org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized", "brokers"),
    ("org.apache.kafka.common.errors.NotEnoughReplicasException: fewer in-sync", "brokers"),
    ("org.apache.kafka.common.KafkaException: Failed to construct kafka producer", "brokers"),
    ("org.apache.kafka.common.KafkaException: Failed to create new KafkaAdminClient", "brokers"),
    (
        "Lost task 0.0 in stage 3.0 (TID 4) (10.0.0.7 executor 1): ExecutorLostFailure (executor 1 "
        "exited caused by one of the running tasks) Reason: exit code 137(SIGKILL)",
        "executor was lost",
    ),
    ("[STREAMING_SHUFFLE_WRITER_CONNECTION_TIMEOUT] Streaming shuffle", "reach each other"),
    (our_shuffle_says(), "reach each other"),
    ("[CONCURRENT_SCHEDULER_INSUFFICIENT_SLOT] Cannot run the pipelined", "executor is missing"),
    ("Multiple streaming queries are concurrently using commits", "another program"),
]
NOT_BLAMED = [
    "Connection to streaming shuffle writer 38 closed before termination",
    "org.apache.kafka.common.errors.InterruptException: java.lang.InterruptedException",
    "org.apache.kafka.common.errors.WakeupException",
    "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state.",
    "[CAST_INVALID_INPUT] The value 'X' cannot be cast. SQLSTATE: 22018",
    "[STREAMING_REAL_TIME_MODE.SINK_NOT_SUPPORTED] x SQLSTATE: 0A000",
    "[STREAM_FAILED] Query terminated with exception: (no cause message)",
    "java.lang.AssertionError: assertion failed",
    "",
]


@pytest.mark.parametrize(("text", "blamed"), BLAMED)
def test_what_is_outside_is_named(text: str, blamed: str) -> None:
    assert blamed in str(outside(text))
    assert judge(text) is Trouble.OUTSIDE


@pytest.mark.parametrize("text", NOT_BLAMED)
def test_what_may_be_the_watch_or_its_checkpoint_blames_nothing_else(text: str) -> None:
    assert outside(text) is None


def test_only_what_kept_a_query_from_reading_is_not_searched_for_a_record() -> None:
    found = [blamed for text, blamed in BLAMED if not_begun(text)]
    assert found == ["executor is missing", "another program"]


@pytest.mark.parametrize(("text", "blamed"), BLAMED[:2])
def test_state_that_cannot_be_loaded_for_its_surroundings_is_not_broken(
    text: str, blamed: str
) -> None:
    unloaded = f"[{UNLOADED}.UNCATEGORIZED] An error occurred\nCaused by: {text}"
    assert judge(unloaded) is Trouble.OUTSIDE
    assert blamed in str(outside(unloaded))


def test_rows_of_another_form_are_a_broken_checkpoint() -> None:
    for part in ("KEY", "VALUE"):
        text = f"[STATE_STORE_{part}_ROW_FORMAT_VALIDATION_FAILURE] failed to validate"
        assert judge(text) is Trouble.CHECKPOINT
