#!/bin/sh
# Sends a tick for each source in sources.csv: every minute, by cron or as cronjob.yaml does.
#   GATEWAY=http://localhost:18081 KEY=… sh ticks.sh path/to/sources.csv
awk -F, 'NR > 1 {printf "{\"source\": \"%s\", \"kind\": \"tick\"}\n", $1}' "$1" |
  curl -sS --fail-with-body --max-time 20 "$GATEWAY/v1/streams/signs/events" \
    -H "x-api-key: $KEY" -H 'content-type: application/x-ndjson' --data-binary @-
