{{/* Ends drivers that run by what was asked for before, as Apache's operator starts the next by what is
asked for now, but leaves one that runs as it is: [root, selectors]. */}}
{{- define "aldebaran.outdatedDrivers" -}}
{{- $root := index . 0 -}}
{{- $template := include "aldebaran.outdatedPod" . -}}
---
apiVersion: batch/v1
kind: Job
metadata:
  # A Job cannot be changed: whatever stands in its pod stands in its name. Finished it stays until the next
  # takes its place: one that Kubernetes removes is missing to Argo CD.
  name: {{ include "aldebaran.part" (list $root "outdated") }}-{{ $template | sha256sum | trunc 8 }}
  namespace: {{ $root.Release.Namespace }}
  labels: {{ include "aldebaran.labels" (list $root "outdated") | nindent 4 }}
spec:
  backoffLimit: 60
  template: {{- $template | nindent 4 }}
{{- end -}}

{{/* Metadata and spec of its pod: [root, selectors]. */}}
{{- define "aldebaran.outdatedPod" -}}
{{- $root := index . 0 -}}
metadata:
  labels: {{ include "aldebaran.podLabels" (list $root "outdated") | nindent 4 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "aldebaran.driverAccount" $root }}
  automountServiceAccountToken: true
  enableServiceLinks: false
  securityContext: {{ include "aldebaran.sparkSecurity" $root | nindent 4 }}
  {{- include "aldebaran.pullSecrets" $root | nindent 2 }}
  {{- include "aldebaran.placement" (list $root "outdated" (pick $root.Values.auditor "nodeSelector" "tolerations")) | nindent 2 }}
  containers:
    - name: outdated
      image: {{ include "aldebaran.image" (list $root $root.Values.image.spark) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ prepend (index . 1) "engine.outdated" | toYaml | nindent 8 }}
      securityContext: {{ include "aldebaran.containerSecurity" $root | nindent 8 }}
      resources: {{ include "aldebaran.shortResources" (list $root "20m" "32Mi" "128Mi") | nindent 8 }}
{{- end -}}
