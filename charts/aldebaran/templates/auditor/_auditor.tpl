{{/* An auditor's place among the ids: [root, id] -> 0 or 1. */}}
{{- define "aldebaran.auditorNumber" -}}
{{- $id := index . 1 -}}
{{- range $number, $each := (index . 0).Values.auditor.ids }}{{ if eq $each $id }}{{ $number }}{{ end }}{{ end -}}
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
{{- $_ := set $own "auditor_checkpoints" "/var/lib/aldebaran/auditor" -}}
{{- with $auditor.checkpoints.store }}{{ $_ := set $own "auditor_store" . }}{{ end -}}
{{- if $root.Values.streams }}{{ $_ := set $own "auditor_streams" "/etc/aldebaran/streams" }}{{ end -}}
{{- if $root.Values.watches }}{{ $_ := set $own "auditor_watches" "/etc/aldebaran/watches" }}{{ end -}}
{{- $spark := deepCopy $auditor.sparkOptions -}}
{{- if ne $auditor.runner "local" -}}
{{- $_ := set $own "auditor_master" "k8s://https://kubernetes.default.svc:443" -}}
{{- end -}}
{{- if eq $auditor.runner "cluster" -}}
{{- $spark = mergeOverwrite (include "aldebaran.clusterOptions" . | fromJson) $spark -}}
{{- end -}}
{{- if $spark }}{{ $_ := set $own "auditor_spark_options" $spark }}{{ end -}}
{{- if include "aldebaran.auditorSecrets" $root | fromJsonArray }}{{ $_ := set $own "secrets_dir" "/etc/aldebaran/secrets" }}{{ end -}}
{{- mergeOverwrite $settings $own (deepCopy $auditor.settings) | toJson -}}
{{- end -}}

{{/* Where an auditor's pods go: [root, id, whether near the driver]. Away from its partner's, as one
node's death must not take both; where there is one node only, `preferred` still lets both start.
Executors go to their driver's node, else its zone: an auditor stops with any of its pods. */}}
{{- define "aldebaran.auditorAffinity" -}}
{{- $root := index . 0 -}}
{{- $own := list (index . 1) -}}
{{- $near := index . 2 -}}
{{- $others := without $root.Values.auditor.ids (index . 1) -}}
{{- if or $near $others -}}
affinity:
  {{- if $near }}
  podAffinity:
    preferredDuringSchedulingIgnoredDuringExecution: {{- include "aldebaran.preferred" (list $root $own) | trim | nindent 6 }}
  {{- end }}
  {{- if $others }}
  podAntiAffinity:
    {{- if eq $root.Values.auditor.apart "required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
      - {{- include "aldebaran.podsOf" (list $root $others "kubernetes.io/hostname") | nindent 8 }}
    {{- end }}
    preferredDuringSchedulingIgnoredDuringExecution: {{- include "aldebaran.preferred" (list $root $others) | trim | nindent 6 }}
  {{- end }}
{{- end -}}
{{- end -}}

{{/* Nodes, and less so zones, where pods of these auditors are: [root, ids]. */}}
{{- define "aldebaran.preferred" -}}
{{- range $key, $weight := dict "kubernetes.io/hostname" 100 "topology.kubernetes.io/zone" 50 }}
- weight: {{ $weight }}
  podAffinityTerm: {{- include "aldebaran.podsOf" (list (index $ 0) (index $ 1) $key) | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "aldebaran.podsOf" -}}
topologyKey: {{ index . 2 }}
labelSelector:
  matchLabels: {app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}}
  matchExpressions: [{key: aldebaran/auditor, operator: In, values: {{ toJson (index . 1) }}}]
{{- end -}}

{{/* What Java is told that our own programs do not start. */}}
{{- define "aldebaran.javaOptions" -}}
@/opt/aldebaran/spark-apps/engine/java-options -Djava.security.properties=/opt/aldebaran/spark-apps/engine/java-security -Dlog4j2.configurationFile=file:///opt/aldebaran/spark-apps/engine/log4j2.properties -Daldebaran.log=json
{{- end -}}

{{/* What tells Spark where executors run and how large they are, whoever starts the driver. */}}
{{- define "aldebaran.executorOptions" -}}
{{- $root := index . 0 -}}
{{- $id := index . 1 -}}
{{- $auditor := $root.Values.auditor -}}
{{- $options := dict "spark.kubernetes.namespace" $root.Release.Namespace "spark.dynamicAllocation.enabled" "false" -}}
{{- $_ := set $options "spark.kubernetes.container.image" (include "aldebaran.image" (list $root $root.Values.image.spark)) -}}
{{- $_ := set $options "spark.kubernetes.container.image.pullPolicy" $root.Values.image.pullPolicy -}}
{{- $_ := set $options "spark.kubernetes.executor.label.aldebaran/auditor" $id -}}
{{- $_ := set $options "spark.kubernetes.authenticate.executor.serviceAccountName" (include "aldebaran.serviceAccount" $root) -}}
{{- $_ := set $options "spark.kubernetes.executor.request.cores" $auditor.executors.cpuRequest -}}
{{- with $auditor.executors.cpuLimit }}{{ $_ := set $options "spark.kubernetes.executor.limit.cores" . }}{{ end -}}
{{- $_ := set $options "spark.executor.instances" ($auditor.executors.count | toString) -}}
{{- $_ := set $options "spark.executor.cores" ($auditor.executors.cores | toString) -}}
{{- $_ := set $options "spark.executor.memory" $auditor.executors.memory -}}
{{- with include "aldebaran.executorOverhead" $root }}{{ $_ := set $options "spark.executor.memoryOverhead" . }}{{ end -}}
{{- $_ := set $options "spark.executor.defaultJavaOptions" (include "aldebaran.javaOptions" $root) -}}
{{- if and (eq $auditor.checkpoints.type "volume") (not $auditor.checkpoints.store) -}}
{{- $volume := "spark.kubernetes.executor.volumes.persistentVolumeClaim.checkpoints" -}}
{{- $_ := set $options (printf "%s.mount.path" $volume) "/var/lib/aldebaran" -}}
{{- $_ := set $options (printf "%s.options.claimName" $volume) (include "aldebaran.checkpointClaim" .) -}}
{{- end -}}
{{- $options | toJson -}}
{{- end -}}

{{/* What an executor asks for beside the heap where RocksDB's memory, and 256 MiB for Java itself, are
more than Spark asks for by itself, which is more for the Python of an operator: root -> MiB, or nothing. */}}
{{- define "aldebaran.executorOverhead" -}}
{{- $name := "auditor_state_memory_mebibytes" -}}
{{- $state := dig $name (dig $name 128 .Values.settings) .Values.auditor.settings | int -}}
{{- $heap := divf (include "aldebaran.bytes" (printf "%si" (upper .Values.auditor.executors.memory))) 1048576 -}}
{{- $share := ternary 0.4 0.1 (include "aldebaran.byOperator" . | empty | not) -}}
{{- $needed := add $state 256 -}}
{{- if gt $needed (max 384 (mulf $share $heap | int)) }}{{ $needed }}m{{ end -}}
{{- end -}}

{{/* What Spark asks for beside the heap so that an operator's driver has `resources.limits.memory`:
the auditor's values -> MiB, or nothing where there is no limit. Python and Java's own share it. */}}
{{- define "aldebaran.driverOverhead" -}}
{{- with dig "limits" "memory" "" (default dict .resources) -}}
{{- $limit := include "aldebaran.bytes" . -}}
{{- $heap := include "aldebaran.bytes" (printf "%si" (upper $.heap)) -}}
{{- if and $limit $heap }}{{ max 384 (divf (subf $limit $heap) 1048576 | int) }}m{{ end -}}
{{- end -}}
{{- end -}}

{{/* The pod of one auditor's StatefulSet: [root, id]. */}}
{{- define "aldebaran.auditorPod" -}}
{{- printf "%s-0" (include "aldebaran.part" (list (index . 0) (printf "auditor-%s" (index . 1)))) -}}
{{- end -}}

{{/* The claim of one auditor's checkpoints, as a StatefulSet names it: [root, id]. */}}
{{- define "aldebaran.checkpointClaim" -}}
{{- printf "checkpoints-%s" (include "aldebaran.auditorPod" .) -}}
{{- end -}}

{{/* What a driver in client mode tells Spark beside that. The driver's address is the pod's, which
Kubernetes puts in: a name may not resolve yet when Spark binds, and Spark hands the bind address to
executors. */}}
{{- define "aldebaran.clusterOptions" -}}
{{- $options := include "aldebaran.executorOptions" . | fromJson -}}
{{- $_ := set $options "spark.driver.host" "$(POD_IP)" -}}
{{- $_ := set $options "spark.driver.bindAddress" "$(POD_IP)" -}}
{{- $_ := set $options "spark.driver.port" "7078" -}}
{{- $_ := set $options "spark.driver.blockManager.port" "7079" -}}
{{- $_ := set $options "spark.kubernetes.driver.pod.name" (include "aldebaran.auditorPod" .) -}}
{{- $_ := set $options "spark.kubernetes.executor.podTemplateFile" (printf "/etc/aldebaran/executor/%s.yaml" (index . 1)) -}}
{{- $options | toJson -}}
{{- end -}}

{{/* Whether the driver is a pod of an operator, which starts Spark itself. */}}
{{- define "aldebaran.byOperator" -}}
{{- if has .Values.auditor.runner (list "kubeflow" "apache") }}yes{{ end -}}
{{- end -}}

{{/* Metadata and spec of an executor's pod: [root, id, container's name]. */}}
{{- define "aldebaran.executorPod" -}}
{{- $root := index . 0 -}}
{{- $auditor := $root.Values.auditor -}}
metadata:
  labels:
    {{- include "aldebaran.podLabels" (list $root "executor") | nindent 4 }}
    aldebaran/auditor: {{ index . 1 | quote }}
  {{- with $auditor.podAnnotations }}
  annotations: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext: {{ include "aldebaran.sparkSecurity" $root | nindent 4 }}
  {{- include "aldebaran.pullSecrets" $root | nindent 2 }}
  {{- include "aldebaran.auditorAffinity" (list $root (index . 1) true) | nindent 2 }}
  {{- with $auditor.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $auditor.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $auditor.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  containers:
    - name: {{ index . 2 }}
      securityContext: {{ include "aldebaran.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
  volumes:
    - {name: tmp, emptyDir: {}}
{{- end -}}

{{/* Names of Secrets whose keys are settings of the auditors, as JSON. */}}
{{- define "aldebaran.auditorSecrets" -}}
{{- include "aldebaran.settingsSecrets" (list . "auditor" .Values.auditor) -}}
{{- end -}}

{{- define "aldebaran.auditorProbes" -}}
startupProbe: {httpGet: {path: /healthz/live, port: http}, periodSeconds: 3, failureThreshold: 100, timeoutSeconds: 5}
livenessProbe: {httpGet: {path: /healthz/live, port: http}, periodSeconds: 15, failureThreshold: 4, timeoutSeconds: 5}
readinessProbe: {httpGet: {path: /healthz/ready, port: http}, periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 5}
{{- end -}}

{{/* Whether an auditor that is told to stop waits for its partner first: [root, id]. */}}
{{- define "aldebaran.waitsForPartner" -}}
{{- $auditor := (index . 0).Values.auditor -}}
{{- if and (ne (index . 1) (first $auditor.ids)) (gt (int $auditor.partnerWaitSeconds) 0) }}yes{{ end -}}
{{- end -}}

{{/* How long an auditor may take to end: [root, id]. Beside the wait for the partner: stopping
queries, and the JVM's end. */}}
{{- define "aldebaran.auditorEndSeconds" -}}
{{- ternary (add 90 (index . 0).Values.auditor.partnerWaitSeconds) 90 (include "aldebaran.waitsForPartner" . | empty | not) -}}
{{- end -}}

{{/* A change touches all auditors at the same moment; all but the first go when that is back: [root, id]. */}}
{{- define "aldebaran.relief" -}}
{{- $auditor := (index . 0).Values.auditor -}}
{{- if include "aldebaran.waitsForPartner" . -}}
lifecycle:
  preStop:
    exec:
      command:
        - /opt/aldebaran/venv/bin/python
        - -m
        - auditor.relief
        - http://{{ include "aldebaran.part" (list (index . 0) (printf "auditor-%s" (first $auditor.ids))) }}:8080/healthz/ready
        - --limit-seconds={{ $auditor.partnerWaitSeconds }}
{{- end -}}
{{- end -}}
