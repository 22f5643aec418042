{{/* All pods of this release, as a selector. */}}
{{- define "aldebaran.releasePods" -}}
{matchLabels: {app.kubernetes.io/name: {{ include "aldebaran.name" . | quote }}, app.kubernetes.io/instance: {{ .Release.Name | quote }}}}
{{- end -}}

{{- define "aldebaran.ports" -}}
{{- $listed := list -}}
{{- range . }}{{ $listed = append $listed (dict "port" (int .) "protocol" "TCP") }}{{ end -}}
{{- toJson $listed -}}
{{- end -}}

{{/* The way out to what is not of this release: [root, ports]. An empty list, to Kubernetes, is everybody. */}}
{{- define "aldebaran.outside" -}}
{{- $peers := (index . 0).Values.networkPolicy.outside -}}
{{- if and $peers (index . 1) -}}
- to: {{ toYaml $peers | nindent 4 }}
  ports: {{ include "aldebaran.ports" (index . 1) }}
{{- end -}}
{{- end -}}

{{/* One part's policy: a dict of root, name, ports (from this release), egressTo, and where they
apply among (ports between the part's own pods), metrics (a port), guests (peers from elsewhere, and
a port), public (a port for everybody), anyPort (all ports from this release). */}}
{{- define "aldebaran.policy" -}}
{{- $root := .root -}}
{{- $part := . -}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ include "aldebaran.part" (list $root .name) }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root .name) | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{ include "aldebaran.selector" (list $root .name) | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- if or .ports .anyPort }}
    - from: [{podSelector: {{ include "aldebaran.releasePods" $root }}}]
      {{- if not .anyPort }}
      ports: {{ include "aldebaran.ports" .ports }}
      {{- end }}
    {{- end }}
    {{- with .among }}
    - from: [{podSelector: {matchLabels: {{ include "aldebaran.selector" (list $root $part.name) | fromYaml | toJson }}}}]
      ports: {{ include "aldebaran.ports" . }}
    {{- end }}
    {{- with .metrics }}
    - from:
        - podSelector: {matchLabels: {{ include "aldebaran.selector" (list $root "console") | fromYaml | toJson }}}
        {{- with $root.Values.networkPolicy.metricsFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports: [{port: {{ . }}, protocol: TCP}]
    {{- end }}
    {{- with .guests }}
    {{- if .from }}
    - from: {{ toYaml .from | nindent 8 }}
      ports: [{port: {{ .port }}, protocol: TCP}]
    {{- end }}
    {{- end }}
    {{- with .public }}
    - ports: [{port: {{ . }}, protocol: TCP}]
    {{- end }}
  egress:
    # Wherever it answers: a node's own cache of names has an address that no selector matches.
    - ports: [{port: 53, protocol: UDP}, {port: 53, protocol: TCP}]
    {{- with .among }}
    - to: [{podSelector: {matchLabels: {{ include "aldebaran.selector" (list $root $part.name) | fromYaml | toJson }}}}]
      ports: {{ include "aldebaran.ports" . }}
    {{- end }}
    {{- if has "release" .egressTo }}
    - to: [{podSelector: {{ include "aldebaran.releasePods" $root }}}]
    {{- end }}
    {{- if has "outside" .egressTo }}
    {{- include "aldebaran.outside" (list $root $root.Values.networkPolicy.outsidePorts) | nindent 4 }}
    {{- if $root.Values.components.inbox.enabled }}
    - to:
        - podSelector:
            matchLabels: {{ include "aldebaran.selector" (list $root "inbox") | nindent 14 }}
    {{- end }}
    {{- end }}
    {{- if and (has "api" .egressTo) $root.Values.networkPolicy.apiServerPorts }}
    # Wherever it is: a policy sees its own address or the one behind its Service, as the network has it.
    - ports: {{ include "aldebaran.ports" $root.Values.networkPolicy.apiServerPorts }}
    {{- end }}
    {{- range $store, $port := dict "kafka" 9092 "postgres" 5432 }}
    {{- if has $store $part.egressTo }}
    {{- if eq (index $root.Values $store).mode "embedded" }}
    - to:
        - podSelector:
            matchLabels: {{ include "aldebaran.selector" (list $root $store) | nindent 14 }}
      ports: [{port: {{ $port }}, protocol: TCP}]
    {{- else }}
    {{- include "aldebaran.outside" (list $root (index $root.Values $store).ports) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- end }}
{{- end -}}
