{{/* Every program of the loop, laid over `default`, as a JSON list; a channel is one too, whose program
is the deliverer. `values` is where its values stand. */}}
{{- define "aldebaran.specs" -}}
{{- $specs := list -}}
{{- range $name, $entry := .Values.components -}}
{{- $spec := mergeOverwrite (deepCopy $.Values.default) (deepCopy $entry) -}}
{{- if $spec.enabled -}}
{{- include "aldebaran.stopped" $spec -}}
{{- $specs = append $specs (dict "name" $name "values" (printf "components.%s" $name) "spec" $spec) -}}
{{- end -}}
{{- end -}}
{{- range $channel, $entry := .Values.channels -}}
{{- if $entry.enabled -}}
{{- $spec := mergeOverwrite (deepCopy $.Values.default) (deepCopy $.Values.channelDefault) (deepCopy $entry) -}}
{{- include "aldebaran.stopped" $spec -}}
{{- $name := printf "deliverer-%s" $channel -}}
{{- $_ := set $spec "group" $name -}}
{{- $_ := set $spec "topic" (printf "deliveries.%s" $channel) -}}
{{- $_ := set $spec "due" (printf "aldebaran_deliverer_due{channel=%q}" $channel) -}}
{{- $specs = append $specs (dict "name" $name "channel" $channel "values" (printf "channels.%s" $channel) "spec" $spec) -}}
{{- end -}}
{{- end -}}
{{- toJson $specs -}}
{{- end -}}

{{/* A program of no pods is stopped by a person, as while a ledger is brought back; an autoscaler would
start it again, or Helm leave its pods to it: spec. */}}
{{- define "aldebaran.stopped" -}}
{{- if eq (int .replicas) 0 }}{{ $_ := set .autoscaling "type" "none" }}{{ end -}}
{{- end -}}

{{/* Names of the StatefulSets of this release, as JSON. */}}
{{- define "aldebaran.statefulSets" -}}
{{- $parts := list -}}
{{- range include "aldebaran.specs" . | fromJsonArray -}}
{{- if eq .spec.kind "StatefulSet" }}{{ $parts = append $parts .name }}{{ end -}}
{{- end -}}
{{- range $store := list "kafka" "postgres" -}}
{{- if eq (index $.Values $store).mode "embedded" }}{{ $parts = append $parts $store }}{{ end -}}
{{- end -}}
{{- if .Values.archivist.enabled }}{{ $parts = append $parts "archivist" }}{{ end -}}
{{- if and .Values.auditor.enabled (not (include "aldebaran.byOperator" .)) -}}
{{- range .Values.auditor.ids }}{{ $parts = append $parts (printf "auditor-%s" .) }}{{ end -}}
{{- end -}}
{{- $names := list -}}
{{- range $parts }}{{ $names = append $names (include "aldebaran.part" (list $ .)) }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{/* Partitions of the topics whose readers share them, by topic: JSON. */}}
{{- define "aldebaran.sharedPartitions" -}}
{{- $shared := dict -}}
{{- range include "aldebaran.specs" . | fromJsonArray -}}
{{- if and .spec.topic .spec.partitions }}{{ $_ := set $shared .spec.topic .spec.partitions }}{{ end -}}
{{- end -}}
{{- toJson $shared -}}
{{- end -}}

{{/* Groups that read a spec's topic, each all of it: one, or a mirror's besides. */}}
{{- define "aldebaran.readers" -}}
{{- ternary 2 1 (default false .mirrored) -}}
{{- end -}}
