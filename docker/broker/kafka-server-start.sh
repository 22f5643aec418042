#!/bin/bash
# The part of Kafka's own script that the chart uses: the server, with its usual variables.
# shellcheck disable=SC2086 # the variables hold several options each, as in Kafka's own script
exec java ${KAFKA_HEAP_OPTS:--Xmx512m} ${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseG1GC} \
  -XX:+ExitOnOutOfMemoryError ${KAFKA_LOG4J_OPTS:-} ${KAFKA_OPTS:-} \
  -cp "/opt/kafka/libs/*" kafka.Kafka "$@"
