{{/* Entries of components and channels whose name nothing has: one that is misspelt would do nothing, or make
a program that does not start. */}}

{{/* How many letters are to be changed, put in or left out to make one word of the other: [word, other]. */}}
{{- define "aldebaran.lettersApart" -}}
{{- $others := splitList "" (index . 1) -}}
{{- $row := until (len $others | add1 | int) -}}
{{- range $letter := splitList "" (index . 0) -}}
{{- $next := list (first $row | add1) -}}
{{- range $at, $other := $others -}}
{{- $changed := add (index $row $at) (ternary 0 1 (eq $letter $other)) -}}
{{- $next = append $next (min $changed (index $row (add1 $at) | add1) (last $next | add1)) -}}
{{- end -}}
{{- $row = $next -}}
{{- end -}}
{{- last $row -}}
{{- end -}}

{{/* The name that differs least from a word, by one or two letters, or nothing: [word, names]. */}}
{{- define "aldebaran.meant" -}}
{{- $word := index . 0 -}}
{{- $least := 3 -}}
{{- $meant := "" -}}
{{- range index . 1 -}}
{{- $apart := include "aldebaran.lettersApart" (list $word .) | int -}}
{{- if lt $apart $least }}{{ $least = $apart }}{{ $meant = . }}{{ end -}}
{{- end -}}
{{- $meant -}}
{{- end -}}

{{/* What to write in place of a name: [where it stands, name, names]. */}}
{{- define "aldebaran.meantOrAll" -}}
{{- $meant := include "aldebaran.meant" (list (index . 1) (index . 2)) -}}
{{- if $meant }}Did you mean {{ index . 0 }}.{{ $meant }}?{{ else }}There are {{ join ", " (index . 2) }}.{{ end -}}
{{- end -}}

{{/* Fails where a component is none of the chart's, and no whole one of its own: root. */}}
{{- define "aldebaran.componentsKnown" -}}
{{- $default := .Values.default -}}
{{- $whole := list -}}
{{- range $name, $entry := .Values.components -}}
{{- if and (or $entry.module $default.module) (or $entry.port $default.port) }}{{ $whole = append $whole $name }}{{ end -}}
{{- end -}}
{{- range $name, $entry := .Values.components -}}
{{- if not (has $name $whole) -}}
{{- fail (printf "components.%s: no program of that name comes with this chart, and the entry does not say what runs. %s For a program of your own set components.%s.module and components.%s.port." $name (include "aldebaran.meantOrAll" (list "components" $name $whole)) $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where a channel is none of ours, and not clearly one of somebody's own: root. */}}
{{- define "aldebaran.channelsKnown" -}}
{{- $root := . -}}
{{- $ours := (.Files.Get "files/topics.yaml" | fromYaml).channels -}}
{{- range $name, $entry := .Values.channels -}}
{{- if not (or $entry.module (has $name $ours)) -}}
{{- $unknown := printf "channels.%s: no channel of that name comes with this chart" $name -}}
{{- $known := include "aldebaran.meantOrAll" (list "channels" $name $ours) -}}
{{- $named := printf "channels.%s.module to %s" $name $root.Values.channelDefault.module -}}
{{- if include "aldebaran.meant" (list $name $ours) -}}
{{- fail (printf "%s. %s For one of your own set %s." $unknown $known $named) -}}
{{- else if not $entry.enabled -}}
{{- fail (printf "%s, and the entry does not enable one. %s For one of your own set channels.%s.enabled to true; where it is to stay off, %s." $unknown $known $name $named) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
