{{/* How many tasks one auditor may run at once. */}}
{{- define "aldebaran.slots" -}}
{{- $auditor := .Values.auditor -}}
{{- ternary $auditor.slots (mul $auditor.executors.count $auditor.executors.cores) (eq $auditor.runner "local") -}}
{{- end -}}

{{/* Partitions of each stream and of its heartbeats together, by the stream's name: JSON. */}}
{{- define "aldebaran.streamPartitions" -}}
{{- $partitions := dict -}}
{{- range include "aldebaran.streams" . | fromJsonArray -}}
{{- $_ := set $partitions .stream (add 1 .partitions) -}}
{{- end -}}
{{- toJson $partitions -}}
{{- end -}}

{{/* The watches that run, as a JSON list with the streams of each: those given, else those that are
shipped, as far as the image has no others. */}}
{{- define "aldebaran.watches" -}}
{{- if .Values.watches -}}
{{- $running := list -}}
{{- range include "aldebaran.declarations" (list .Values.watches "watches") | fromJsonArray -}}
{{- if not .paused }}{{ $running = append $running (dict "watch" .watch "streams" .streams) }}{{ end -}}
{{- end -}}
{{- toJson $running -}}
{{- else -}}
{{- (.Files.Get "files/watches.yaml" | fromYaml).watches | toJson -}}
{{- end -}}
{{- end -}}

{{/* The slots that each watch needs at once, by its name: JSON. */}}
{{- define "aldebaran.slotsNeeded" -}}
{{- $auditor := .Values.auditor -}}
{{- $needed := dict -}}
{{- if and $auditor.watches (not .Values.watches) -}}
{{- range $number := until (int $auditor.watches) -}}
{{- $_ := set $needed (printf "watch %d" (add1 $number)) (add $auditor.sourcePartitions $auditor.shufflePartitions) -}}
{{- end -}}
{{- else -}}
{{- $partitions := include "aldebaran.streamPartitions" . | fromJson -}}
{{- range $watch := include "aldebaran.watches" . | fromJsonArray -}}
{{- $own := int $auditor.shufflePartitions -}}
{{- range $watch.streams -}}
{{- if not (hasKey $partitions .) }}{{ fail (printf "watch %s reads stream %s, which is not among the files of streams: put it there, or give watches of your own." $watch.watch .) }}{{ end -}}
{{- $own = add $own (index $partitions .) -}}
{{- end -}}
{{- $_ := set $needed $watch.watch $own -}}
{{- end -}}
{{- end -}}
{{- toJson $needed -}}
{{- end -}}

{{/* The slots with which the rule of any one watch can be changed: the new one runs beside the old. */}}
{{- define "aldebaran.slotsForChange" -}}
{{- $all := 0 -}}
{{- $largest := 0 -}}
{{- range include "aldebaran.slotsNeeded" . | fromJson -}}
{{- $all = add $all . -}}
{{- $largest = max $largest . -}}
{{- end -}}
{{- add $all $largest -}}
{{- end -}}

{{/* Which values to set, and to what, so that there are (list root count) slots. */}}
{{- define "aldebaran.slotsAdvice" -}}
{{- $root := index . 0 -}}
{{- ternary "auditor.slots" "auditor.executors.count × auditor.executors.cores" (eq $root.Values.auditor.runner "local") }} to {{ index . 1 -}}
{{- end -}}
