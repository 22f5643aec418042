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
{{- $secret := dict "name" (include "aldebaran.secretName" (list . "postgres" .Values.postgres)) "key" .Values.postgres.existingSecretKey -}}
{{- if eq .Values.postgres.mode "operator" -}}
{{- $secret = dict "name" (printf "%s-app" (include "aldebaran.part" (list . "postgres"))) "key" "uri" -}}
{{- end -}}
{{- set $secret "path" "aldebaran_postgres_url" | toJson -}}
{{- end -}}

{{- define "aldebaran.keysSecret" -}}
{{- include "aldebaran.secretName" (list . "keys" .Values.keys) -}}
{{- end -}}

{{/* Of those keys, the one that sends events, as JSON. */}}
{{- define "aldebaran.simulatorKey" -}}
{{- $key := "aldebaran_simulator_api_key" -}}
{{- dict "name" (include "aldebaran.keysSecret" .) "key" $key "path" $key "optional" true | toJson -}}
{{- end -}}

{{- define "aldebaran.linksSecret" -}}
{{- include "aldebaran.secretName" (list . "links" .Values.links) -}}
{{- end -}}

{{/* The channels that have a deliverer, as JSON. */}}
{{- define "aldebaran.channels" -}}
{{- $enabled := list -}}
{{- range $name, $entry := .Values.channels -}}
{{- if $entry.enabled }}{{ $enabled = append $enabled $name }}{{ end -}}
{{- end -}}
{{- $enabled | sortAlpha | toJson -}}
{{- end -}}
