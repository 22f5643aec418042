{{/* The host under which people reach the console; empty where it listens in its pod only. The
scheme is put before an empty address, as no host can be found in that. */}}
{{- define "aldebaran.consoleHost" -}}
{{- $console := .Values.components.console -}}
{{- if and (ne $console.enabled false) (not $console.loopback) -}}
{{- (urlParse (default "https://console.invalid" .Values.publicUrls.console)).hostname -}}
{{- end -}}
{{- end -}}

{{/* Where the console finds health and metrics of the others, by name: JSON. */}}
{{- define "aldebaran.consoleParts" -}}
{{- $parts := dict -}}
{{- range include "aldebaran.specs" . | fromJsonArray -}}
{{- if not .spec.loopback -}}
{{- $host := include (ternary "aldebaran.pods" "aldebaran.part" (default false .spec.service)) (list $ .name) -}}
{{- $_ := set $parts .name (printf "http://%s:%d" $host (int .spec.port)) -}}
{{- end -}}
{{- end -}}
{{- $others := list -}}
{{- if .Values.auditor.enabled -}}
{{- range .Values.auditor.ids }}{{ $others = append $others (printf "auditor-%s" .) }}{{ end -}}
{{- end -}}
{{- if .Values.archivist.enabled }}{{ $others = append $others "archivist" }}{{ end -}}
{{- range $others }}{{ $_ := set $parts . (printf "http://%s:8080" (include "aldebaran.part" (list $ .))) }}{{ end -}}
{{- omit $parts "console" | toJson -}}
{{- end -}}

{{/* Settings that tell one program of this release where another one is. */}}
{{- define "aldebaran.wired" -}}
{{- $root := .root -}}
{{- $wired := dict -}}
{{- $more := dict -}}
{{- if and .spec.links $root.Values.components.callbacks.enabled -}}
{{- with $root.Values.publicUrls.callbacks }}{{ $_ := set $wired "callbacks_public_url" . }}{{ end -}}
{{- end -}}
{{- if .channel -}}
{{- $_ := set $wired "channel" .channel -}}
{{- if eq .channel "sms" -}}
{{- with $root.Values.publicUrls.callbacks }}{{ $_ := set $wired "callbacks_public_url" . }}{{ end -}}
{{- else if and (eq .channel "email") $root.Values.components.inbox.enabled -}}
{{- $_ := set $wired "email_host" (include "aldebaran.part" (list $root "inbox")) -}}
{{- $_ := set $wired "email_port" $root.Values.components.inbox.ports.smtp -}}
{{- end -}}
{{- else if eq .name "gateway" -}}
{{- with $root.Values.publicUrls.gateway }}{{ $_ := set $wired "gateway_public_url" . }}{{ end -}}
{{- else if eq .name "amqp" -}}
{{- if $root.Values.bindings }}{{ $_ := set $wired "amqp_bindings_file" "/etc/aldebaran/bindings/bindings.yaml" }}{{ end -}}
{{- else if eq .name "heartbeat" -}}
{{- if $root.Values.auditor.enabled -}}
{{- $_ := set $wired "heartbeat_auditors" $root.Values.auditor.ids -}}
{{- $_ := set $wired "auditor_batch_seconds" $root.Values.auditor.batchSeconds -}}
{{- end -}}
{{- else if eq .name "rehearsal" -}}
{{- if $root.Values.auditor.enabled -}}
{{- $_ := set $wired "auditor_slots" (include "aldebaran.slots" $root | int) -}}
{{- $_ := set $wired "auditor_shuffle_partitions" $root.Values.auditor.shufflePartitions -}}
{{- end -}}
{{- else if eq .name "lookout" -}}
{{- with $root.Values.publicUrls.console }}{{ $_ := set $wired "console_public_url" . }}{{ end -}}
{{- if $root.Values.routes }}{{ $_ := set $wired "routes_file" "/etc/aldebaran/routes/routes.yaml" }}{{ end -}}
{{- $_ := set $wired "routes_variables" (deepCopy $root.Values.routesVariables) -}}
{{- if $root.Values.components.inbox.enabled -}}
{{- $hook := printf "http://%s:%d/hook" (include "aldebaran.part" (list $root "inbox")) (int $root.Values.components.inbox.ports.hook) -}}
{{- $_ := set $wired "routes_variables" (merge (deepCopy $root.Values.routesVariables) (dict "inbox_url" $hook)) -}}
{{- end -}}
{{- else if eq .name "console" -}}
{{- $_ := set $wired "lookout_url" (printf "http://%s" (include "aldebaran.part" (list $root "lookout"))) -}}
{{- /* For a person's commands in its pod. */ -}}
{{- $_ := set $wired "console_url" (printf "http://127.0.0.1:%d" (int .spec.port)) -}}
{{- $_ := set $wired "console_parts" (include "aldebaran.consoleParts" $root | fromJson) -}}
{{- $_ := set $more "drawn" (dict "aldebaran_operator_key" "operator-key") -}}
{{- if not $root.Values.oidc.issuer }}{{ $_ := set $more.drawn "aldebaran_console_first_password" "console-first-password" }}{{ end -}}
{{- with $root.Values.oidc.issuer -}}
{{- $_ := set $wired "console_oidc_issuer" . -}}
{{- $_ := set $wired "console_oidc_client_id" $root.Values.oidc.clientId -}}
{{- $_ := set $wired "console_oidc_roles" (deepCopy $root.Values.oidc.roles) -}}
{{- $_ := set $wired "console_public_url" (default "http://localhost:8080" $root.Values.publicUrls.console) -}}
{{- $_ := set $more "egressTo" (uniq (append $.spec.egressTo "outside")) -}}
{{- end -}}
{{- else if eq .name "simulator" -}}
{{- $_ := set $wired "simulator_gateway_url" (printf "http://%s" (include "aldebaran.part" (list $root "gateway"))) -}}
{{- else if eq .name "inbox" -}}
{{- $_ := set $wired "inbox_host" "0.0.0.0" -}}
{{- $_ := set $wired "home" "/tmp" -}}
{{- $_ := set $wired "inbox_smtp_port" .spec.ports.smtp -}}
{{- $_ := set $wired "inbox_hook_port" .spec.ports.hook -}}
{{- else if eq .name "callbacks" -}}
{{- $_ := set $wired "callbacks_host" "0.0.0.0" -}}
{{- $_ := set $wired "callbacks_port" .spec.publicPort -}}
{{- end -}}
{{- mergeOverwrite (deepCopy .spec) (dict "wired" $wired) $more | toJson -}}
{{- end -}}
