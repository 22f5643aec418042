{{/* What Kubernetes or Kafka cannot change in an install that runs: refused before Helm has changed a
part of it. Without a cluster (`helm template`) nothing is looked at. */}}

{{/* A quantity, which may be a number, in bytes, or nothing where its unit is none of these. */}}
{{- define "aldebaran.bytes" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $quantity := toString . -}}
{{- $unit := regexFind "[A-Za-z]*$" $quantity -}}
{{- if hasKey $units $unit }}{{ mulf (trimSuffix $unit $quantity | float64) (index $units $unit) }}{{ end -}}
{{- end -}}

{{/* The StatefulSets of all auditors, as kubectl takes them: root. */}}
{{- define "aldebaran.auditorSets" -}}
{{- $sets := list -}}
{{- range .Values.auditor.ids }}{{ $sets = append $sets (include "aldebaran.part" (list $ (printf "auditor-%s" .))) }}{{ end -}}
{{- join " " $sets -}}
{{- end -}}

{{/* Fails where a StatefulSet's volume is to become another one: [root, part, storage, its value, access modes]. */}}
{{- define "aldebaran.volumeKept" -}}
{{- $root := index . 0 -}}
{{- $name := include "aldebaran.part" (list $root (index . 1)) -}}
{{- $storage := index . 2 -}}
{{- $value := index . 3 -}}
{{- $modes := index . 4 -}}
{{- $namespace := $root.Release.Namespace -}}
{{- range dig "spec" "volumeClaimTemplates" list (lookup "apps/v1" "StatefulSet" $namespace $name) -}}
{{- $size := .spec.resources.requests.storage -}}
{{- $pod := printf "%s-%s-0" .metadata.name $name -}}
{{- if ne (include "aldebaran.bytes" $size) (include "aldebaran.bytes" $storage.size) -}}
{{- fail (printf "%s.size is %s, and StatefulSet %s was made with %s, which Kubernetes does not change. To make it larger, where the class allows it: kubectl -n %s patch pvc %s -p '{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"%s\"}}}}' (and those of further pods), then kubectl -n %s delete statefulset %s --cascade=orphan (its pods run on), then this again." $value $storage.size $name $size $namespace $pod $storage.size $namespace $name) -}}
{{- end -}}
{{- $class := default "" .spec.storageClassName -}}
{{- if ne $class $storage.storageClass -}}
{{- fail (printf "%s.storageClass is %q, and StatefulSet %s was made with %q, which Kubernetes does not change. Set it to %q, as it was." $value $storage.storageClass $name $class $class) -}}
{{- end -}}
{{- if ne (toJson .spec.accessModes) (toJson $modes) -}}
{{- $claims := list -}}
{{- range $id := $root.Values.auditor.ids -}}
{{- $claims = append $claims (include "aldebaran.checkpointClaim" (list $root $id)) -}}
{{- end -}}
{{- fail (printf "%s.accessModes is %s, and StatefulSet %s was made with %s, which Kubernetes does not change. Auditors build checkpoints again that they lose: kubectl -n %s delete statefulset %s --cascade=orphan (their pods run on), then kubectl -n %s delete pvc %s --wait=false (each goes with its pod), then this again, which replaces the pods one after the other; kubectl -n %s delete pod those that it leaves." $value (toJson $modes) $name (toJson .spec.accessModes) $namespace (include "aldebaran.auditorSets" $root) $namespace (join " " $claims) $namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where the claim of an operator's driver is to become another one: [root, id]. One that a
StatefulSet made is taken as it is, and where no class is named so is that of ours. */}}
{{- define "aldebaran.claimKept" -}}
{{- $root := index . 0 -}}
{{- $wanted := $root.Values.auditor.checkpoints -}}
{{- $name := include "aldebaran.checkpointClaim" . -}}
{{- $claim := lookup "v1" "PersistentVolumeClaim" $root.Release.Namespace $name -}}
{{- if eq "Helm" (dig "metadata" "labels" "app.kubernetes.io/managed-by" "" $claim) -}}
{{- $holds := $claim.spec.resources.requests.storage -}}
{{- if lt (include "aldebaran.bytes" $wanted.size | float64) (include "aldebaran.bytes" $holds | float64) -}}
{{- fail (printf "auditor.checkpoints.size is %s, and claim %s has %s, which Kubernetes does not make smaller. Set it to %s or more." $wanted.size $name $holds $holds) -}}
{{- end -}}
{{- $class := dig "storageClassName" "" $claim.spec -}}
{{- if not (has $wanted.storageClass (list "" $class)) -}}
{{- fail (printf "auditor.checkpoints.storageClass is %s, and claim %s was made with %s, which Kubernetes does not change. Set it to %s, as it was." $wanted.storageClass $name $class $class) -}}
{{- end -}}
{{- $modes := toJson $claim.spec.accessModes -}}
{{- if ne $modes (toJson $wanted.accessModes) -}}
{{- fail (printf "auditor.checkpoints.accessModes is %s, and claim %s was made with %s, which Kubernetes does not change. Set it to %s, as it was." (toJson $wanted.accessModes) $name $modes $modes) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where a set is one of before 26 November 2026, whose broken pods no upgrade replaces: root. */}}
{{- define "aldebaran.policyKept" -}}
{{- $root := . -}}
{{- $old := list -}}
{{- $parts := list "postgres" "archivist" -}}
{{- range .Values.auditor.ids }}{{ $parts = append $parts (printf "auditor-%s" .) }}{{ end -}}
{{- range $part := $parts -}}
{{- $name := include "aldebaran.part" (list $root $part) -}}
{{- $set := lookup "apps/v1" "StatefulSet" $root.Release.Namespace $name -}}
{{- if eq "OrderedReady" (dig "spec" "podManagementPolicy" "" $set) }}{{ $old = append $old $name }}{{ end -}}
{{- end -}}
{{- with $old -}}
{{- fail (printf "StatefulSet %s was made with podManagementPolicy OrderedReady, which Kubernetes does not change, and by which it never replaces a pod that does not start. Once: kubectl -n %s delete statefulset %s --cascade=orphan (the pods run on), then this again." (join ", " .) $root.Release.Namespace (join " " .)) -}}
{{- end -}}
{{- end -}}

{{/* Fails where an auditor's checkpoints are to be on a volume, or not any more: [root, id]. */}}
{{- define "aldebaran.checkpointsKept" -}}
{{- $root := index . 0 -}}
{{- $wanted := $root.Values.auditor.checkpoints.type -}}
{{- $name := include "aldebaran.part" (list $root (printf "auditor-%s" (index . 1))) -}}
{{- with lookup "apps/v1" "StatefulSet" $root.Release.Namespace $name -}}
{{- $made := ternary "volume" "temporary" (not (empty .spec.volumeClaimTemplates)) -}}
{{- if ne $made $wanted -}}
{{- fail (printf "auditor.checkpoints.type is %s, and StatefulSet %s was made with %s, which Kubernetes does not change. Auditors build checkpoints again that they lose: kubectl -n %s delete statefulset %s --cascade=orphan (their pods run on), then this again, which replaces the pods one after the other." $wanted $name $made $root.Release.Namespace (include "aldebaran.auditorSets" $root)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where the embedded Postgres is to have another password: root. */}}
{{- define "aldebaran.passwordKept" -}}
{{- $name := include "aldebaran.part" (list . "postgres") -}}
{{- $wanted := .Values.postgres.embedded.password -}}
{{- $kept := dig "data" "password" "" (lookup "v1" "Secret" .Release.Namespace $name) | b64dec -}}
{{- if and $wanted $kept (ne $wanted $kept) -}}
{{- fail (printf "postgres.embedded.password is not the one that the database was made with, and it would go on asking for that. Leave it empty, or change it in the database first: kubectl -n %s exec %s-0 -- psql -U aldebaran -c \"ALTER USER aldebaran PASSWORD '…'\", then kubectl -n %s delete secret %s, then this again, and restart the programs." .Release.Namespace $name .Release.Namespace $name) -}}
{{- end -}}
{{- end -}}

{{/* Fails where the number of embedded brokers is to change: root. */}}
{{- define "aldebaran.brokersKept" -}}
{{- $name := include "aldebaran.part" (list . "kafka") -}}
{{- $wanted := int .Values.kafka.embedded.replicas -}}
{{- with lookup "apps/v1" "StatefulSet" .Release.Namespace $name -}}
{{- if ne (int .spec.replicas) $wanted -}}
{{- fail (printf "kafka.embedded.replicas is %d, and this release was installed with %d: topics would keep the copies that they have, and the brokers' vote would not be the same for all. Leave it at %d; or install a release of another name with %d and move publishers to it; or bring brokers of your own (kafka.mode external or strimzi)." $wanted (int .spec.replicas) (int .spec.replicas) $wanted) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What stays when the release goes, or no longer asks for it: Helm's word for that, and Argo CD's. */}}
{{- define "aldebaran.keep" -}}
{helm.sh/resource-policy: keep, argocd.argoproj.io/sync-options: Prune=false}
{{- end -}}
