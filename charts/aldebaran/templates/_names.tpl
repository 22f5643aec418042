{{/* Names and labels: each stands here once. */}}
{{- define "aldebaran.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "aldebaran.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "aldebaran.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The part's name: [root, "gateway"] -> "release-aldebaran-gateway". */}}
{{- define "aldebaran.part" -}}
{{- printf "%s-%s" (include "aldebaran.fullname" (index . 0)) (index . 1) -}}
{{- end -}}

{{/* The name of a part's pods, ready or not, where its own leads to one that is ready: [root, part]. */}}
{{- define "aldebaran.pods" -}}
{{- printf "%s-pods" (include "aldebaran.part" .) -}}
{{- end -}}

{{/* What selects a part's pods, and never changes: [root, part]. */}}
{{- define "aldebaran.selector" -}}
app.kubernetes.io/name: {{ include "aldebaran.name" (index . 0) | quote }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of a part's pods, which another version of the chart leaves as they are: else each would
start all of them again: [root, part]. */}}
{{- define "aldebaran.podLabels" -}}
{{- mergeOverwrite (deepCopy (index . 0).Values.commonLabels) (include "aldebaran.selector" . | fromYaml) | toYaml -}}
{{- end -}}

{{/* A version as a label, which may have no `+` before what it was built of. */}}
{{- define "aldebaran.versionLabel" -}}
{{- replace "+" "_" . | trunc 63 | trimAll "-._" -}}
{{- end -}}

{{/* Labels of a part's other objects: [root, part]. */}}
{{- define "aldebaran.labels" -}}
{{- $root := index . 0 -}}
{{- $first := dict "app.kubernetes.io/version" (include "aldebaran.versionLabel" $root.Chart.AppVersion) "app.kubernetes.io/part-of" "aldebaran" -}}
{{- $last := dict "app.kubernetes.io/managed-by" $root.Release.Service "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | include "aldebaran.versionLabel") -}}
{{- mergeOverwrite $first (include "aldebaran.podLabels" . | fromYaml) $last | toYaml -}}
{{- end -}}

{{/* The whole name of one of our two images: [root, {repository, tag}]. */}}
{{- define "aldebaran.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- printf "%s%s:%s" $root.Values.image.registry $image.repository (default $root.Chart.AppVersion $image.tag) -}}
{{- end -}}

{{/* Of an image that others make: its registry is in its repository. */}}
{{- define "aldebaran.wholeImage" -}}
{{- printf "%s:%s" .repository .tag -}}
{{- end -}}

{{/* The object by which Strimzi's operator is asked for a topic: its name. */}}
{{- define "aldebaran.topicObject" -}}
{{- replace "_" "-" . | lower -}}
{{- end -}}

{{- define "aldebaran.serviceAccount" -}}
{{- default (include "aldebaran.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* Of a driver whose executors are pods. */}}
{{- define "aldebaran.driverAccount" -}}
{{- default (include "aldebaran.part" (list . "auditor")) .Values.serviceAccount.driverName -}}
{{- end -}}
