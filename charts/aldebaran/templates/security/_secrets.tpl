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

{{/* What asks for a Secret, if it is asked for: [root, part, its values]. What an API server would fill in
within the list stands there, as Argo CD takes it for a change. */}}
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
  dataFrom: [{extract: {key: {{ .remoteKey }}, conversionStrategy: Default, decodingStrategy: None, metadataPolicy: None}}]
{{- end }}
{{- end -}}

{{/* A file of keys: that of the Secret as it is, to which people may have added some, with the drawn key's
entry whatever became of it. What is drawn stands so that the entry that keygen prints can be appended:
[root, the Secret, its data, the file, the entry]. */}}
{{- define "aldebaran.keysFile" -}}
{{- $root := index . 0 -}}
{{- $secret := index . 1 -}}
{{- $file := index . 3 -}}
{{- $entry := index . 4 -}}
{{- $text := dig $file "" (index . 2) | b64dec -}}
{{- $read := fromYaml $text -}}
{{- $keys := default list $read.keys -}}
{{- $wrong := ternary "" "keys is no list" (kindIs "slice" $keys) -}}
{{- with default $wrong $read.Error -}}
{{- fail (printf "%s in Secret %s of namespace %s cannot be read: %s. Mend it there (kubectl -n %s edit secret %s, in base64), or delete it there, and all its keys but the drawn one go." $file $secret $root.Release.Namespace . $root.Release.Namespace $secret) -}}
{{- end -}}
{{- $there := false -}}
{{- $others := list -}}
{{- range $key := $keys -}}
{{- $its := ternary $key dict (kindIs "map" $key) -}}
{{- if eq (get $its "sha256" | toString) $entry.sha256 }}{{ $there = true -}}
{{- else if ne (get $its "name" | toString) $entry.name }}{{ $others = append $others $key }}{{ end -}}
{{- end -}}
{{- $drawn := dict "keys" (append $others $entry) -}}
{{- if and $there (ne (toJson $read) (toJson $drawn)) }}{{ $text -}}
{{- else }}{{ toYaml $drawn }}{{ "\n" }}{{ end -}}
{{- end -}}
