{{/* What stands in files given as values, as a JSON list: [values, what they are called]. */}}
{{- define "aldebaran.declarations" -}}
{{- $read := list -}}
{{- $what := index . 1 -}}
{{- $name := index (dict "streams" "stream" "watches" "watch") $what -}}
{{- range $file, $text := index . 0 -}}
{{- if hasSuffix ".yml" $file }}{{ fail (printf "%s: %s: only *.yaml files are read: rename it." $what $file) }}{{ end -}}
{{- if hasSuffix ".yaml" $file -}}
{{- $declared := fromYaml $text -}}
{{- if hasKey $declared "Error" }}{{ fail (printf "%s: %s cannot be read: %s" $what $file $declared.Error) }}{{ end -}}
{{- $called := get $declared $name -}}
{{- if not (and $called (kindIs "string" $called)) }}{{ fail (printf "%s: %s: %s must be a name, such as %s." $what $file $name (trimSuffix ".yaml" $file)) }}{{ end -}}
{{- if eq $what "watches" }}{{ include "aldebaran.streamsNamed" (list $file $declared.streams) }}{{ end -}}
{{- $read = append $read $declared -}}
{{- end -}}
{{- end -}}
{{- toJson $read -}}
{{- end -}}

{{/* Fails where a watch's streams are no list of names: [file, streams]. */}}
{{- define "aldebaran.streamsNamed" -}}
{{- $streams := index . 1 -}}
{{- $named := kindIs "slice" $streams -}}
{{- if $named }}{{ range $streams }}{{ $named = and $named (kindIs "string" .) }}{{ end }}{{ end -}}
{{- if not $named }}{{ fail (printf "watches: %s: streams must be a list of names, such as [trades]." (index . 0)) }}{{ end -}}
{{- end -}}

{{/* The declared streams as a JSON list, those given, else those in the image, with what they leave out. */}}
{{- define "aldebaran.streams" -}}
{{- $made := .Files.Get "files/topics.yaml" | fromYaml -}}
{{- $streams := $made.streams -}}
{{- if .Values.streams }}{{ $streams = include "aldebaran.declarations" (list .Values.streams "streams") | fromJsonArray }}{{ end -}}
{{- $whole := list -}}
{{- range $streams }}{{ $whole = append $whole (mergeOverwrite (deepCopy $made.defaults) .) }}{{ end -}}
{{- toJson $whole -}}
{{- end -}}

{{/* Whether `helm test` has something to try: a gateway, and a watch of the stream that it sends to. */}}
{{- define "aldebaran.tried" -}}
{{- $read := list -}}
{{- range include "aldebaran.watches" . | fromJsonArray }}{{ $read = concat $read .streams }}{{ end -}}
{{- $there := list -}}
{{- range include "aldebaran.specs" . | fromJsonArray }}{{ $there = append $there .name }}{{ end -}}
{{- if and .Values.tests.enabled .Values.auditor.enabled (has "gateway" $there) (has "trades" $read) }}yes{{ end -}}
{{- end -}}
