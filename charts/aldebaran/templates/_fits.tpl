{{/* What would not fit into what there is: refused before anything is installed. */}}

{{/* Fails where Java's heap leaves nothing of its pod's memory: [where the values stand, values]. */}}
{{- define "aldebaran.heapFits" -}}
{{- $value := index . 0 -}}
{{- $heap := (index . 1).heap -}}
{{- with dig "limits" "memory" "" (default dict (index . 1).resources) -}}
{{- $limit := include "aldebaran.bytes" . -}}
{{- $needed := include "aldebaran.bytes" (printf "%si" (upper $heap)) -}}
{{- if and $limit (ge (float64 $needed) (float64 $limit)) -}}
{{- fail (printf "%s.heap is %s, and its pod has %s: Kubernetes would end it once the heap is full. Set %s.resources.limits.memory to more than the heap, as Java and what runs beside it take some too; or a smaller heap." $value $heap (toString .) $value) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where topics that the Job declares are to have more copies than there are embedded brokers: root. */}}
{{- define "aldebaran.copiesFit" -}}
{{- $brokers := int .Values.kafka.embedded.replicas -}}
{{- $told := "%s is %d, and kafka.embedded.replicas %d: Kafka makes no such topic. Set %s to %d or less." -}}
{{- if eq .Values.topics.provision "job" -}}
{{- $copies := default 1 .Values.topics.replication | int -}}
{{- if gt $copies $brokers }}{{ fail (printf $told "topics.replication" $copies $brokers "topics.replication" $brokers) }}{{ end -}}
{{- range include "aldebaran.streams" . | fromJsonArray -}}
{{- $which := printf "replication of stream %s" .stream -}}
{{- if gt (int .replication) $brokers }}{{ fail (printf $told $which (int .replication) $brokers $which $brokers) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
