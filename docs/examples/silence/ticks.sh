#!/bin/sh
# Sends a tick for each source in sources.csv: every minute, by cron or as cronjob.yaml does.
# Says nothing when all were taken; else what the gateway answered, and fails.
#   GATEWAY=http://localhost:18081 KEY=… sh ticks.sh path/to/sources.csv
answer=$(awk -F, 'NR > 1 {printf "{\"source\": \"%s\", \"kind\": \"tick\"}\n", $1}' "$1" |
  curl -sS --fail-with-body --max-time 20 "$GATEWAY/v1/streams/signs/events" \
    -H "x-api-key: $KEY" -H 'content-type: application/x-ndjson' --data-binary @-) &&
  case $answer in *'"rejected":0,'*) exit 0 ;; esac
printf '%s\n' "$answer" >&2
exit 1
