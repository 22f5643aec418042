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
