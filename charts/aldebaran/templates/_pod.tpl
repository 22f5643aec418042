{{/* Parts of pods that all have. */}}
{{- define "aldebaran.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* Spark's user is in group 0, as its images have it. */}}
{{- define "aldebaran.sparkSecurity" -}}
runAsNonRoot: true
runAsUser: 185
runAsGroup: 0
fsGroup: 185
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "aldebaran.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Changes with declarations that programs read only when they start: [root, kinds]. */}}
{{- define "aldebaran.declared" -}}
{{- $root := index . 0 -}}
{{- $read := dict -}}
{{- range $kind := index . 1 }}{{ $_ := set $read $kind (index $root.Values $kind) }}{{ end -}}
{{- toJson $read | sha256sum | trunc 16 -}}
{{- end -}}

{{- define "aldebaran.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Settings as environment: a map of names without prefix; lists and maps become JSON.
Numbers too: as text, Go would write a million as 1e+06. */}}
{{- define "aldebaran.environment" -}}
{{- range $name, $value := . }}
- name: ALDEBARAN_{{ upper $name }}
  value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}
{{- end }}
{{- end -}}

{{/* Settings that every program of the release has: [root]. */}}
{{- define "aldebaran.sharedSettings" -}}
{{- $root := index . 0 -}}
{{- $shared := dict "kafka_bootstrap_servers" (include "aldebaran.bootstrap" $root) "channels" (include "aldebaran.channels" $root | fromJsonArray) -}}
{{- if $root.Values.streams }}{{ $_ := set $shared "streams_dir" "/etc/aldebaran/streams" }}{{ end -}}
{{- if $root.Values.watches }}{{ $_ := set $shared "watches_dir" "/etc/aldebaran/watches" }}{{ end -}}
{{- mergeOverwrite $shared (deepCopy $root.Values.settings) | toJson -}}
{{- end -}}

{{/* Secrets whose keys are settings, as one folder: [name, or {name, key, path, optional}...]. A later
one wins over an earlier one. */}}
{{- define "aldebaran.secretsVolume" -}}
{{- if . }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range . }}
      {{- if kindIs "string" . }}
      - secret: {name: {{ . }}}
      {{- else }}
      - secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: {{ .path }}}]{{ if .optional }}, optional: true{{ end }}}
      {{- end }}
      {{- end }}
{{- end }}
{{- end -}}

{{- define "aldebaran.secretsMount" -}}
{{- if . }}
- {name: secrets, mountPath: /etc/aldebaran/secrets, readOnly: true}
{{- end }}
{{- end -}}

{{/* Volumes of declarations: [root, kinds]. */}}
{{- define "aldebaran.declarationVolumes" -}}
{{- $root := index . 0 -}}
{{- range $kind := (index . 1) }}
{{- if index $root.Values $kind }}
- name: {{ $kind }}
  configMap: {name: {{ include "aldebaran.part" (list $root $kind) }}}
{{- end }}
{{- end }}
{{- end -}}

{{- define "aldebaran.declarationMounts" -}}
{{- $root := index . 0 -}}
{{- range $kind := (index . 1) }}
{{- if index $root.Values $kind }}
- {name: {{ $kind }}, mountPath: /etc/aldebaran/{{ $kind }}, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{/* What a short pod asks for, and what else a namespace's quota wants that `default` says, as limits of
CPU: [root, CPU, memory, most memory]. */}}
{{- define "aldebaran.shortResources" -}}
{{- $own := dict "requests" (dict "cpu" (index . 1) "memory" (index . 2)) "limits" (dict "memory" (index . 3)) -}}
{{- mergeOverwrite (deepCopy (index . 0).Values.default.resources) $own | toYaml -}}
{{- end -}}

{{/* Where a pod may run: [root, part, values]. `minNodes` in them: rather no pod than two on a node, whether
or not they are spread. Kubernetes must hear how many nodes that takes: where it knows fewer, it would
share them. */}}
{{- define "aldebaran.placement" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- $of := index . 2 -}}
{{- with $of.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $of.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $of.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $of.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- $apart := ternary (list "kubernetes.io/hostname") list (not (empty $of.minNodes)) }}
{{- with ternary (list "kubernetes.io/hostname" "topology.kubernetes.io/zone") $apart (default false $of.topologySpread) }}
topologySpreadConstraints:
  {{- range $key := . }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    {{- if and (eq $key "kubernetes.io/hostname") $of.minNodes }}
    minDomains: {{ $of.minNodes }}
    whenUnsatisfiable: DoNotSchedule
    {{- else }}
    whenUnsatisfiable: ScheduleAnyway
    {{- end }}
    labelSelector:
      matchLabels: {{ include "aldebaran.selector" (list $root $name) | nindent 8 }}
  {{- end }}
{{- end }}
{{- end -}}
