{{/* Where Kafka and Postgres are, whichever way they run. */}}
{{- define "aldebaran.bootstrap" -}}
{{- if eq .Values.kafka.mode "embedded" -}}
{{- $name := include "aldebaran.part" (list . "kafka") -}}
{{- $brokers := list -}}
{{- range $i := until (int .Values.kafka.embedded.replicas) -}}
{{- $brokers = append $brokers (printf "%s-%d.%s.%s.svc:9092" $name $i $name $.Release.Namespace) -}}
{{- end -}}
{{- join "," $brokers -}}
{{- else -}}
{{- .Values.kafka.bootstrapServers -}}
{{- end -}}
{{- end -}}

{{- define "aldebaran.replication" -}}
{{- $embedded := ternary .Values.kafka.embedded.replicas 3 (eq .Values.kafka.mode "embedded") -}}
{{- default $embedded .Values.topics.replication -}}
{{- end -}}

{{/* The Secret with aldebaran_postgres_url. */}}
{{- define "aldebaran.postgresSecret" -}}
{{- if eq .Values.postgres.mode "embedded" -}}
{{- include "aldebaran.part" (list . "postgres") -}}
{{- else -}}
{{- .Values.postgres.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "aldebaran.keysSecret" -}}
{{- default (include "aldebaran.part" (list . "keys")) .Values.keys.existingSecret -}}
{{- end -}}

{{- define "aldebaran.linksSecret" -}}
{{- default (include "aldebaran.part" (list . "links")) .Values.links.existingSecret -}}
{{- end -}}

{{/* The channels that have a deliverer, as JSON. */}}
{{- define "aldebaran.channels" -}}
{{- $enabled := list -}}
{{- range $name, $entry := .Values.channels -}}
{{- if $entry.enabled }}{{ $enabled = append $enabled $name }}{{ end -}}
{{- end -}}
{{- $enabled | sortAlpha | toJson -}}
{{- end -}}
