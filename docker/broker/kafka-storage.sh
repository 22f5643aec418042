#!/bin/bash
# The part of Kafka's own script that the chart uses: the tool that formats storage.
exec java -XX:TieredStopAtLevel=1 -cp "/opt/kafka/libs/*" kafka.tools.StorageTool "$@"
