{{/* A ServiceMonitor per component: metrics are on its page. */}}
{{- define "aldebaran.componentMonitor" -}}
{{- $root := .root -}}
{{- if and $root.Values.monitoring.serviceMonitors.enabled (not .spec.loopback) }}
{{ include "aldebaran.monitor" (list $root .name) }}
{{- end }}
{{- end -}}

{{- define "aldebaran.monitor" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "aldebaran.part" (list $root $name) }}
  namespace: {{ $root.Release.Namespace }}
  labels:
    {{- include "aldebaran.labels" (list $root $name) | nindent 4 }}
    {{- with $root.Values.monitoring.serviceMonitors.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels: {{ include "aldebaran.selector" (list $root $name) | nindent 6 }}
  endpoints: [{port: http, path: /metrics, interval: {{ $root.Values.monitoring.serviceMonitors.interval }}}]
{{- end -}}

{{/* The seconds that a component is told by its settings, its own before those of all, or 0: [root, component, setting]. */}}
{{- define "aldebaran.toldSeconds" -}}
{{- $values := (index . 0).Values -}}
{{- $own := dig (index . 1) "settings" dict $values.components -}}
{{- mergeOverwrite (deepCopy $values.settings) (deepCopy $values.default.settings) (deepCopy $own) | dig (index . 2) 0 -}}
{{- end -}}

{{/* Rules that look at this release only, and say so: another one in the same Prometheus would hide that
a program is away, and an alert of both would be one; with an address of the pages, a link to what to read:
[root, text]. */}}
{{- define "aldebaran.ownRules" -}}
{{- $namespace := (index . 0).Release.Namespace -}}
{{- $pages := (index . 0).Values.monitoring.rules.runbookUrl | default "" | trimSuffix "/" -}}
{{- $read := index . 1 | fromYaml -}}
{{- range $read.groups -}}
{{- range .rules -}}
{{- $_ := set . "expr" (regexReplaceAll "aldebaran_[a-z_]+" .expr (printf "${0}{namespace=%q}" $namespace) | replace "}{" ",") -}}
{{- $_ := set .labels "namespace" $namespace -}}
{{- if $pages }}{{ $_ := set .annotations "runbook_url" (printf "%s/%s" $pages .annotations.read) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $read -}}
{{- end -}}
