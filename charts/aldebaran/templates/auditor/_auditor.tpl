{{/* One auditor's settings: [root, id]. Two differ in id and nothing else. */}}
{{- define "aldebaran.auditorSettings" -}}
{{- $root := index . 0 -}}
{{- $id := index . 1 -}}
{{- $auditor := $root.Values.auditor -}}
{{- $full := include "aldebaran.part" (list $root (printf "auditor-%s" $id)) -}}
{{- $settings := include "aldebaran.sharedSettings" (list $root) | fromJson -}}
{{- $own := dict "http_host" "0.0.0.0" "http_port" 8080 "auditor_id" $id "auditor_batch_seconds" $auditor.batchSeconds "auditor_slots" $auditor.slots "auditor_heap" $auditor.heap "auditor_shuffle_partitions" $auditor.shufflePartitions -}}
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

{{/* What a driver in client mode tells Spark so that executors become pods and find it. The
driver's address is the pod's: Spark hands the bind address to executors. */}}
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
{{- $_ := set $options "spark.driver.host" (printf "%s-0.%s.%s.svc" $full $full $root.Release.Namespace) -}}
{{- $_ := set $options "spark.driver.port" "7078" -}}
{{- $_ := set $options "spark.driver.blockManager.port" "7079" -}}
{{- $_ := set $options "spark.kubernetes.driver.pod.name" (printf "%s-0" $full) -}}
{{- $_ := set $options "spark.kubernetes.executor.podTemplateFile" "/etc/aldebaran/executor/pod.yaml" -}}
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
