{{/* An auditor's place among the ids: [root, id] -> 0 or 1. */}}
{{- define "aldebaran.auditorNumber" -}}
{{- $id := index . 1 -}}
{{- range $number, $each := (index . 0).Values.auditor.ids }}{{ if eq $each $id }}{{ $number }}{{ end }}{{ end -}}
{{- end -}}

{{/* How many tasks one auditor may run at once. */}}
{{- define "aldebaran.slots" -}}
{{- $auditor := .Values.auditor -}}
{{- ternary $auditor.slots (mul $auditor.executors.count $auditor.executors.cores) (eq $auditor.runner "local") -}}
{{- end -}}

{{/* One auditor's settings: [root, id]. Two differ in id, in the moments of their batches' ends, and
in how long they wait before they take a change. */}}
{{- define "aldebaran.auditorSettings" -}}
{{- $root := index . 0 -}}
{{- $id := index . 1 -}}
{{- $auditor := $root.Values.auditor -}}
{{- $full := include "aldebaran.part" (list $root (printf "auditor-%s" $id)) -}}
{{- $settings := include "aldebaran.sharedSettings" (list $root) | fromJson -}}
{{- $number := include "aldebaran.auditorNumber" . | int -}}
{{- $own := dict "http_host" "0.0.0.0" "http_port" 8080 "auditor_id" $id -}}
{{- $_ := set $own "auditor_phase" (divf $number (len $auditor.ids)) -}}
{{- $_ := set $own "auditor_reload_delay_seconds" (add 2 (mul $number $auditor.reloadApartSeconds)) -}}
{{- $_ := set $own "auditor_batch_seconds" $auditor.batchSeconds -}}
{{- $_ := set $own "auditor_slots" (include "aldebaran.slots" $root | int) -}}
{{- $_ := set $own "auditor_heap" $auditor.heap -}}
{{- $_ := set $own "auditor_shuffle_partitions" $auditor.shufflePartitions -}}
{{- $_ := set $own "auditor_checkpoints" (ternary $auditor.checkpoints.url "/var/lib/aldebaran/auditor" (eq $auditor.checkpoints.type "url")) -}}
{{- if $root.Values.streams }}{{ $_ := set $own "auditor_streams" "/etc/aldebaran/streams" }}{{ end -}}
{{- if $root.Values.watches }}{{ $_ := set $own "auditor_watches" "/etc/aldebaran/watches" }}{{ end -}}
{{- $spark := deepCopy $auditor.sparkOptions -}}
{{- if eq $auditor.runner "cluster" -}}
{{- $_ := set $own "auditor_master" "k8s://https://kubernetes.default.svc:443" -}}
{{- $spark = mergeOverwrite (include "aldebaran.clusterOptions" . | fromJson) $spark -}}
{{- end -}}
{{- if $spark }}{{ $_ := set $own "auditor_spark_options" $spark }}{{ end -}}
{{- if or $root.Values.existingSecret $auditor.existingSecret }}{{ $_ := set $own "secrets_dir" "/etc/aldebaran/secrets" }}{{ end -}}
{{- mergeOverwrite $settings $own (deepCopy $auditor.settings) | toJson -}}
{{- end -}}

{{/* Keeps an auditor's pods away from its partner's: [root, id]. One node's death must not take
both; where there is one node only, `preferred` still lets both start. */}}
{{- define "aldebaran.apart" -}}
{{- $root := index . 0 -}}
{{- $others := without $root.Values.auditor.ids (index . 1) -}}
{{- if $others -}}
affinity:
  podAntiAffinity:
    {{- if eq $root.Values.auditor.apart "required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - {{- include "aldebaran.partners" (list $root $others "kubernetes.io/hostname") | nindent 8 }}
    {{- end }}
    preferredDuringSchedulingIgnoredDuringExecution:
      {{- range $key, $weight := dict "kubernetes.io/hostname" 100 "topology.kubernetes.io/zone" 50 }}
      - weight: {{ $weight }}
        podAffinityTerm: {{- include "aldebaran.partners" (list $root $others $key) | nindent 10 }}
      {{- end }}
{{- end -}}
{{- end -}}

{{- define "aldebaran.partners" -}}
topologyKey: {{ index . 2 }}
labelSelector:
  matchLabels: {app.kubernetes.io/instance: {{ (index . 0).Release.Name }}}
  matchExpressions: [{key: aldebaran/auditor, operator: In, values: {{ toJson (index . 1) }}}]
{{- end -}}

{{/* What a driver in client mode tells Spark so that executors become pods and find it. The
driver's address is the pod's, which Kubernetes puts in: a name may not resolve yet when Spark binds,
and Spark hands the bind address to executors. */}}
{{- define "aldebaran.clusterOptions" -}}
{{- $root := index . 0 -}}
{{- $id := index . 1 -}}
{{- $auditor := $root.Values.auditor -}}
{{- $name := printf "auditor-%s" $id -}}
{{- $full := include "aldebaran.part" (list $root $name) -}}
{{- $options := dict -}}
{{- $_ := set $options "spark.kubernetes.namespace" $root.Release.Namespace -}}
{{- $_ := set $options "spark.kubernetes.container.image" (include "aldebaran.image" (list $root $root.Values.image.spark)) -}}
{{- $_ := set $options "spark.kubernetes.container.image.pullPolicy" $root.Values.image.pullPolicy -}}
{{- $_ := set $options "spark.driver.host" "$(POD_IP)" -}}
{{- $_ := set $options "spark.driver.bindAddress" "$(POD_IP)" -}}
{{- $_ := set $options "spark.driver.port" "7078" -}}
{{- $_ := set $options "spark.driver.blockManager.port" "7079" -}}
{{- $_ := set $options "spark.kubernetes.driver.pod.name" (printf "%s-0" $full) -}}
{{- $_ := set $options "spark.kubernetes.executor.podTemplateFile" (printf "/etc/aldebaran/executor/%s.yaml" $id) -}}
{{- $_ := set $options "spark.kubernetes.executor.label.aldebaran/auditor" $id -}}
{{- $_ := set $options "spark.kubernetes.executor.request.cores" $auditor.executors.cpuRequest -}}
{{- $_ := set $options "spark.executor.instances" ($auditor.executors.count | toString) -}}
{{- $_ := set $options "spark.executor.cores" ($auditor.executors.cores | toString) -}}
{{- $_ := set $options "spark.executor.memory" $auditor.executors.memory -}}
{{- $_ := set $options "spark.dynamicAllocation.enabled" "false" -}}
{{- if eq $auditor.checkpoints.type "volume" -}}
{{- $volume := "spark.kubernetes.executor.volumes.persistentVolumeClaim.checkpoints" -}}
{{- $_ := set $options (printf "%s.mount.path" $volume) "/var/lib/aldebaran" -}}
{{- $_ := set $options (printf "%s.options.claimName" $volume) (printf "checkpoints-%s-0" $full) -}}
{{- end -}}
{{- $options | toJson -}}
{{- end -}}
