"""The archivist's Spark session: small, and never in the auditor's way."""

from pyspark.sql import SparkSession

from archivist.settings import ArchivistSettings
from engine.session import Driver, open_with

ROW_GROUP_BYTES = 16 * 1024 * 1024
"""Parquet holds this much per open file in memory; its default of 128 MiB fills a small heap."""


def open_session(settings: ArchivistSettings) -> SparkSession:
    """Start Spark; takes some seconds."""
    driver = Driver(
        name="archivist",
        master=settings.master(),
        alone=not settings.archivist_master,
        heap=settings.archivist_heap,
        jars=settings.jars(),
        log_format=settings.log_format,
        log_level=settings.log_level,
    )
    return open_with(
        driver,
        {
            "spark.sql.shuffle.partitions": str(settings.archivist_shuffle_partitions),
            "spark.sql.parquet.compression.codec": "zstd",
            "spark.hadoop.parquet.block.size": str(ROW_GROUP_BYTES),
            # Nothing staged counts before all of it is there, so no file needs moving twice.
            "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
            "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
            **settings.store_config(),
        },
    )
