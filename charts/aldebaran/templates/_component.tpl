{{/* All objects of one component: a dict of root, name (of the part) and spec (merged). */}}
{{- define "aldebaran.component" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $spec := .spec -}}
{{- $full := include "aldebaran.part" (list $root $name) -}}
{{- $keeps := eq $spec.kind "StatefulSet" -}}
{{- $scaled := ne $spec.autoscaling.type "none" -}}
---
apiVersion: apps/v1
kind: {{ $spec.kind }}
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  {{- if not $scaled }}
  replicas: {{ $spec.replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  {{- if $keeps }}
  serviceName: {{ $full }}
  podManagementPolicy: Parallel
  {{- else }}
  strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 1}}
  {{- end }}
  selector:
    matchLabels: {{ include "aldebaran.selector" (list $root $name) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "aldebaran.podLabels" (list $root $name) | nindent 8 }}
        {{- with $spec.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- $read := dict "heartbeat" (list "streams" "watches") "amqp" (list "streams" "bindings") }}
        aldebaran/declared: {{ include "aldebaran.declared" (list $root (get $read $name | default (list "streams"))) | quote }}
        {{- with $spec.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "aldebaran.componentPod" . | nindent 6 }}
{{ include "aldebaran.componentService" . }}
{{ include "aldebaran.componentLimits" . }}
{{- if $root.Values.networkPolicy.enabled }}
{{- $public := default $spec.port $spec.publicPort }}
{{- $listens := not $spec.loopback }}
{{- $guests := dict }}
{{- if and (eq $spec.autoscaling.type "keda") $spec.due }}{{ $guests = dict "from" $root.Values.networkPolicy.kedaFrom "port" $spec.port }}{{ end }}
{{ include "aldebaran.policy" (dict "root" $root "name" $name "ports" (ternary (concat (list $spec.port) (values (default dict $spec.ports) | sortAlpha)) list (and $listens (default false $spec.service))) "metrics" (ternary $spec.port "" $listens) "guests" $guests "public" (ternary $public "" (and $listens (eq (default "" $spec.ingressFrom) "anywhere"))) "egressTo" (default list $spec.egressTo)) }}
{{- end }}
{{ include "aldebaran.componentMonitor" . }}
{{- end -}}

{{- define "aldebaran.componentPod" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $spec := .spec -}}
{{- $declared := concat (list "streams" "watches" "routes") (ternary (list "bindings") list (eq $name "amqp")) -}}
{{- $secrets := list -}}
{{- range $path, $key := $spec.drawn }}{{ $secrets = append $secrets (dict "name" (include "aldebaran.keysSecret" $root) "key" $key "path" $path "optional" true) }}{{ end -}}
{{- /* What is optional counts as there while its Secret is still being made: this one waits for the Secret. */ -}}
{{- if $spec.drawn }}{{ $secrets = append $secrets (dict "name" (include "aldebaran.keysSecret" $root) "key" "operator-keys.yaml" "path" "operator-keys.yaml") }}{{ end -}}
{{- $secrets = concat $secrets (include "aldebaran.settingsSecrets" (list $root $name $spec) | fromJsonArray) -}}
{{- if has "postgres" (default list $spec.egressTo) }}{{ $secrets = append $secrets (include "aldebaran.postgresSecret" $root | fromJson) }}{{ end -}}
{{- if and $spec.links $root.Values.components.callbacks.enabled }}{{ $secrets = append $secrets (include "aldebaran.linksSecret" $root) }}{{ end -}}
{{- if eq (default "" $spec.keys) "simulator" }}{{ $secrets = append $secrets (include "aldebaran.simulatorKey" $root | fromJson) }}{{ end -}}
serviceAccountName: {{ include "aldebaran.serviceAccount" $root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- /* SIGTERM does nothing to a first process that has not asked for it yet, as Python in its first second; Spark's start looks whether it is the first. */}}
shareProcessNamespace: {{ ne $spec.image "spark" }}
terminationGracePeriodSeconds: {{ include "aldebaran.endSeconds" (list $root $spec) }}
securityContext: {{ ternary (include "aldebaran.sparkSecurity" $root) (include "aldebaran.podSecurity" 10001) (eq $spec.image "spark") | nindent 2 }}
{{- include "aldebaran.pullSecrets" $root }}
{{- include "aldebaran.placement" (list $root $name $spec) }}
containers:
  - name: {{ $name }}
    image: {{ include "aldebaran.image" (list $root (index $root.Values.image $spec.image)) }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ concat (list $spec.module) (default list $spec.arguments) | toJson }}
    securityContext: {{ include "aldebaran.containerSecurity" . | nindent 6 }}
    env:
      {{- $own := dict "http_port" $spec.port "http_host" (ternary "127.0.0.1" "0.0.0.0" (default false $spec.loopback)) }}
      {{- if $secrets }}{{ $_ := set $own "secrets_dir" "/etc/aldebaran/secrets" }}{{ end }}
      {{- if eq (default "" $spec.keys) "api" }}{{ $_ := set $own "api_keys_file" "/etc/aldebaran/keys/api-keys.yaml" }}{{ end }}
      {{- if eq (default "" $spec.keys) "operator" }}{{ $_ := set $own "operator_keys_file" "/etc/aldebaran/keys/operator-keys.yaml" }}{{ end }}
      {{- include "aldebaran.environment" (mergeOverwrite (include "aldebaran.sharedSettings" (list $root) | fromJson) $own (deepCopy (default dict $spec.wired)) (deepCopy $spec.settings)) | nindent 6 }}
      {{- if eq $spec.kind "StatefulSet" }}
      - name: ALDEBARAN_KAFKA_GROUP_INSTANCE_ID
        valueFrom: {fieldRef: {fieldPath: metadata.name}}
      {{- if $spec.mirrored }}
      - name: ALDEBARAN_ORDINAL
        valueFrom: {fieldRef: {fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']"}}
      {{- end }}
      {{- end }}
      {{- with $spec.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    ports:
      {{- if not $spec.loopback }}
      - {name: http, containerPort: {{ $spec.port }}}
      {{- end }}
      {{- with $spec.publicPort }}
      - {name: public, containerPort: {{ . }}}
      {{- end }}
      {{- range $port, $number := (default dict $spec.ports) }}
      - {name: {{ $port }}, containerPort: {{ $number }}}
      {{- end }}
    {{- include "aldebaran.probes" $spec | nindent 4 }}
    {{- if gt (int $spec.preStopSeconds) 0 }}
    lifecycle:
      preStop: {exec: {command: [sleep, {{ $spec.preStopSeconds | toString | quote }}]}}
    {{- end }}
    resources: {{ toYaml $spec.resources | nindent 6 }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
      {{- include "aldebaran.secretsMount" $secrets | nindent 6 }}
      {{- if has (default "" $spec.keys) (list "api" "operator") }}
      - {name: keys, mountPath: /etc/aldebaran/keys, readOnly: true}
      {{- end }}
      {{- include "aldebaran.declarationMounts" (list $root $declared) | nindent 6 }}
      {{- with $spec.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  - {name: tmp, emptyDir: {}}
  {{- include "aldebaran.secretsVolume" $secrets | nindent 2 }}
  {{- if has (default "" $spec.keys) (list "api" "operator") }}
  - name: keys
    secret:
      secretName: {{ include "aldebaran.keysSecret" $root }}
      defaultMode: 0440
      items: [{key: {{ $spec.keys }}-keys.yaml, path: {{ $spec.keys }}-keys.yaml}]
  {{- end }}
  {{- include "aldebaran.declarationVolumes" (list $root $declared) | nindent 2 }}
  {{- with $spec.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* How long a program may take to end, at least what it takes to drain, and 10 s: [root, spec]. */}}
{{- define "aldebaran.endSeconds" -}}
{{- $spec := index . 1 -}}
{{- $name := "drain_timeout_seconds" -}}
{{- $drain := dig $name (dig $name 10 (index . 0).Values.settings) $spec.settings -}}
{{- max $spec.terminationGracePeriodSeconds (addf $spec.preStopSeconds $drain 10 | ceil) -}}
{{- end -}}

{{/* A page inside the pod only is asked from inside the pod. */}}
{{- define "aldebaran.probes" -}}
{{- $port := .port -}}
{{- $loopback := default false .loopback -}}
{{- range $probe := list (list "startupProbe" "live" 2 150) (list "livenessProbe" "live" 10 3) (list "readinessProbe" "ready" 5 2) }}
{{ index $probe 0 }}:
  {{- if $loopback }}
  exec:
    command: [/opt/aldebaran/venv/bin/python, -c, "import urllib.request as u; u.build_opener(u.ProxyHandler({})).open('http://127.0.0.1:{{ $port }}/healthz/{{ index $probe 1 }}', timeout=3)"]
  {{- else }}
  httpGet: {path: /healthz/{{ index $probe 1 }}, port: http}
  {{- end }}
  periodSeconds: {{ index $probe 2 }}
  failureThreshold: {{ index $probe 3 }}
  timeoutSeconds: 5
{{- end }}
{{- end -}}

{{/* Readers of topics get a Service too: a StatefulSet asks for one, and monitors find it. */}}
{{- define "aldebaran.componentService" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $spec := .spec -}}
{{- if not $spec.loopback }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "aldebaran.part" (list $root $name) }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  {{- if not $spec.service }}
  clusterIP: None
  # The console asks those that are not ready, why; nobody sends work to them.
  publishNotReadyAddresses: true
  {{- end }}
  selector: {{ include "aldebaran.selector" (list $root $name) | nindent 4 }}
  ports:
    - {name: http, port: {{ ternary 80 $spec.port (default false $spec.service) }}, targetPort: http}
    {{- with $spec.publicPort }}
    - {name: public, port: {{ . }}, targetPort: public}
    {{- end }}
    {{- range $port, $number := (default dict $spec.ports) }}
    - {name: {{ $port }}, port: {{ $number }}, targetPort: {{ $port }}}
    {{- end }}
{{- end }}
{{- if and (not $spec.loopback) $spec.service (ne $name "console") }}
---
# The console asks each pod, also one that is not ready, why; a name of its own for the port, as monitors
# find the pods by the Service above.
apiVersion: v1
kind: Service
metadata:
  name: {{ include "aldebaran.pods" (list $root $name) }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {{ include "aldebaran.selector" (list $root $name) | nindent 4 }}
  ports:
    - {name: pages, port: {{ $spec.port }}, targetPort: http}
{{- end }}
{{- end -}}

{{/* What bounds a component: drains, load, network, and what watches it. */}}
{{- define "aldebaran.componentLimits" -}}
{{- $root := .root -}}
{{- $name := .name -}}
{{- $spec := .spec -}}
{{- $full := include "aldebaran.part" (list $root $name) -}}
{{- $scaling := $spec.autoscaling -}}
{{- if or (gt (int $spec.replicas) 1) (and (ne $scaling.type "none") (gt (int $scaling.minReplicas) 1)) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  maxUnavailable: {{ $spec.maxUnavailable }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{ include "aldebaran.selector" (list $root $name) | nindent 6 }}
{{- end }}
{{- if eq $scaling.type "hpa" }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ $spec.kind }}, name: {{ $full }}}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  {{- with $scaling.behavior }}
  behavior: {{ toYaml . | nindent 4 }}
  {{- end }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ $scaling.targetCpuPercent }}}
{{- else if eq $scaling.type "keda" }}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $full }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root $name) | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: {{ $spec.kind }}, name: {{ $full }}}
  minReplicaCount: {{ $scaling.minReplicas }}
  maxReplicaCount: {{ $scaling.maxReplicas }}
  {{- with $scaling.behavior }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {{ toYaml . | nindent 8 }}
  {{- end }}
  triggers:
    {{- if $spec.due }}
    # A deliverer reads its topic as fast as it comes; what waits for a slow provider is in the ledger.
    - type: metrics-api
      metadata:
        url: http://{{ $full }}.{{ $root.Release.Namespace }}.svc:{{ ternary 80 $spec.port (default false $spec.service) }}/metrics
        format: prometheus
        valueLocation: {{ $spec.due | squote }}
        targetValue: {{ $scaling.lagThreshold | toJson | trimAll "\"" | quote }}
    {{- else }}
    - type: kafka
      metadata:
        bootstrapServers: {{ include "aldebaran.bootstrap" $root | quote }}
        {{- $group := printf "%s_group" $name }}
        consumerGroup: {{ dig $group (dig $group $spec.group $root.Values.settings) $spec.settings }}
        topic: {{ $spec.topic }}
        lagThreshold: {{ $scaling.lagThreshold | toJson | trimAll "\"" | quote }}
        # As the lookout does: of a partition of which it has committed nothing yet, all is to be read.
        offsetResetPolicy: earliest
        {{- if $spec.mirrored }}
        # KEDA stops at a pod for each partition otherwise, and half of ours are mirrors.
        allowIdleConsumers: "true"
        {{- end }}
      {{- with $scaling.authenticationRef }}
      authenticationRef: {name: {{ . }}}
      {{- end }}
    {{- end }}
{{- end }}
{{ include "aldebaran.externalSecret" (list $root $name $spec) }}
{{- end -}}
