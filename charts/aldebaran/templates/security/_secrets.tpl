{{/* Secrets that somebody brings, all in one shape: `existingSecret` names one that is there,
`externalSecret` asks External Secrets for one with the name of the part that it is for. */}}

{{/* Names of those whose keys are settings, as JSON: [root, part, its values]. */}}
{{- define "aldebaran.secretsOf" -}}
{{- $given := index . 2 -}}
{{- $names := without (list $given.existingSecret) "" -}}
{{- if $given.externalSecret }}{{ $names = append $names (include "aldebaran.part" (list (index . 0) (index . 1))) }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{/* Those of every program, and of one part beside them: [root, part, its values]. */}}
{{- define "aldebaran.settingsSecrets" -}}
{{- $root := index . 0 -}}
{{- $shared := include "aldebaran.secretsOf" (list $root "settings" $root.Values) | fromJsonArray -}}
{{- if eq (index . 1) "callbacks" }}{{ $shared = concat $shared (include "aldebaran.twilioSecrets" $root | fromJsonArray) }}{{ end -}}
{{- concat $shared (include "aldebaran.secretsOf" . | fromJsonArray) | toJson -}}
{{- end -}}

{{/* Those with the token by which Twilio signs what it calls back, as JSON: the SMS deliverer's. */}}
{{- define "aldebaran.twilioSecrets" -}}
{{- $names := "[]" -}}
{{- range include "aldebaran.specs" . | fromJsonArray -}}
{{- if eq .name "deliverer-sms" }}{{ $names = include "aldebaran.secretsOf" (list $ .name .spec) }}{{ end -}}
{{- end -}}
{{- $names -}}
{{- end -}}

{{/* The name of a Secret that is made here unless it is brought: [root, part, its values]. */}}
{{- define "aldebaran.secretName" -}}
{{- default (include "aldebaran.part" (list (index . 0) (index . 1))) (index . 2).existingSecret -}}
{{- end -}}

{{/* Whether a Secret is brought: its values. */}}
{{- define "aldebaran.isBrought" -}}
{{- if or .existingSecret .externalSecret }}yes{{ end -}}
{{- end -}}

{{/* What asks for a Secret, if it is asked for: [root, part, its values]. */}}
{{- define "aldebaran.externalSecret" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- with (index . 2).externalSecret }}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: {{ include "aldebaran.part" (list $root $part) }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $part) | nindent 4 }}
spec:
  secretStoreRef: {name: {{ .store }}, kind: {{ default "SecretStore" .kind }}}
  target: {name: {{ include "aldebaran.part" (list $root $part) }}}
  dataFrom: [{extract: {key: {{ .remoteKey }}}}]
{{- end }}
{{- end -}}
