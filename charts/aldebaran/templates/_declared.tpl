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

{{/* Fails where the on-ramp of RabbitMQ would not start, as it feeds a stream that nobody declares. */}}
{{- define "aldebaran.bindingsFit" -}}
{{- $known := list -}}
{{- range include "aldebaran.streams" . | fromJsonArray }}{{ $known = append $known .stream }}{{ end -}}
{{- $fed := include "aldebaran.fed" . | fromJsonArray -}}
{{- range include "aldebaran.specs" . | fromJsonArray -}}
{{- if and (eq .name "amqp") (not (or .spec.settings.amqp_bindings_file $.Values.settings.amqp_bindings_file)) -}}
{{- range $fed -}}
{{- if not (has . $known) }}{{ fail (printf "components.amqp would not start: its bindings feed stream %s, and declared are %s. Set bindings to a file bindings.yaml that feeds those (docs/gateway.md, From RabbitMQ)." . (join ", " $known)) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The streams that RabbitMQ feeds, as a JSON list: by the file of `bindings`, else by that in the image.
What else is wrong in the file, its reader says. */}}
{{- define "aldebaran.fed" -}}
{{- $fed := list "trades" -}}
{{- with .Values.bindings -}}
{{- if ne (keys . | join " ") "bindings.yaml" }}{{ fail "bindings is one file, bindings.yaml: nobody reads another." }}{{ end -}}
{{- $read := index . "bindings.yaml" | fromYaml -}}
{{- with $read.Error }}{{ fail (printf "bindings: bindings.yaml cannot be read: %s" .) }}{{ end -}}
{{- $fed = list -}}
{{- range ternary $read.bindings list (kindIs "slice" $read.bindings) -}}
{{- if kindIs "map" . }}{{ with .stream }}{{ $fed = append $fed (toString .) }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toJson $fed -}}
{{- end -}}

{{/* Whether `helm test` has something to try: a gateway, and a watch of the stream that it sends to. */}}
{{- define "aldebaran.tried" -}}
{{- $read := list -}}
{{- range include "aldebaran.watches" . | fromJsonArray }}{{ $read = concat $read .streams }}{{ end -}}
{{- $there := list -}}
{{- range include "aldebaran.specs" . | fromJsonArray }}{{ $there = append $there .name }}{{ end -}}
{{- if and .Values.tests.enabled .Values.auditor.enabled (has "gateway" $there) (has "trades" $read) }}yes{{ end -}}
{{- end -}}
