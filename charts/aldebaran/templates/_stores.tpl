{{/* Where Kafka and Postgres are, whichever way they run. */}}
{{- define "aldebaran.bootstrap" -}}
{{- if eq .Values.kafka.mode "embedded" -}}
{{- $name := include "aldebaran.part" (list . "kafka") -}}
{{- $brokers := list -}}
{{- range $i := until (int .Values.kafka.embedded.replicas) -}}
{{- $brokers = append $brokers (printf "%s-%d.%s.%s.svc:9092" $name $i $name $.Release.Namespace) -}}
{{- end -}}
{{- join "," $brokers -}}
{{- else if and (eq .Values.kafka.mode "strimzi") (not .Values.kafka.bootstrapServers) -}}
{{- printf "%s-kafka-bootstrap.%s.svc:9092" .Values.kafka.strimzi.cluster .Release.Namespace -}}
{{- else -}}
{{- .Values.kafka.bootstrapServers -}}
{{- end -}}
{{- end -}}

{{- define "aldebaran.replication" -}}
{{- $nodes := 3 -}}
{{- if eq .Values.kafka.mode "embedded" }}{{ $nodes = .Values.kafka.embedded.replicas }}{{ end -}}
{{- if eq .Values.kafka.mode "strimzi" }}{{ $nodes = min 3 .Values.kafka.strimzi.replicas }}{{ end -}}
{{- default $nodes .Values.topics.replication -}}
{{- end -}}

{{/* The Secret with the ledger's address, and the key in it: JSON. CloudNativePG calls it uri. */}}
{{- define "aldebaran.postgresSecret" -}}
{{- $own := include "aldebaran.part" (list . "postgres") -}}
{{- $path := "aldebaran_postgres_url" -}}
{{- if eq .Values.postgres.mode "embedded" -}}
{{- dict "name" $own "key" $path "path" $path | toJson -}}
{{- else if eq .Values.postgres.mode "operator" -}}
{{- dict "name" (printf "%s-app" $own) "key" "uri" "path" $path | toJson -}}
{{- else -}}
{{- dict "name" .Values.postgres.existingSecret "key" .Values.postgres.existingSecretKey "path" $path | toJson -}}
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
