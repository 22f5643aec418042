{{/* Settings that tell one program of this release where another one is. */}}
{{- define "aldebaran.wired" -}}
{{- $root := .root -}}
{{- $wired := dict -}}
{{- if eq .name "lookout" -}}
{{- if $root.Values.routes }}{{ $_ := set $wired "routes_file" "/etc/aldebaran/routes/routes.yaml" }}{{ end -}}
{{- $_ := set $wired "routes_variables" (deepCopy $root.Values.routesVariables) -}}
{{- if $root.Values.components.inbox.enabled -}}
{{- $hook := printf "http://%s:%d/hook" (include "aldebaran.part" (list $root "inbox")) (int $root.Values.components.inbox.ports.hook) -}}
{{- $_ := set $wired "routes_variables" (merge (deepCopy $root.Values.routesVariables) (dict "inbox_url" $hook)) -}}
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
{{- mergeOverwrite (deepCopy .spec) (dict "wired" $wired) | toJson -}}
{{- end -}}
