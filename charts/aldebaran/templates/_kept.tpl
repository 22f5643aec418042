{{/* What Kubernetes or Kafka cannot change in an install that runs: refused before Helm has changed a
part of it. Without a cluster (`helm template`) nothing is looked at. */}}

{{/* A quantity, which may be a number, in bytes, or nothing where its unit is none of these. */}}
{{- define "aldebaran.bytes" -}}
{{- $units := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 -}}
{{- $quantity := toString . -}}
{{- $unit := regexFind "[A-Za-z]*$" $quantity -}}
{{- if hasKey $units $unit }}{{ mulf (trimSuffix $unit $quantity | float64) (index $units $unit) }}{{ end -}}
{{- end -}}

{{/* What the cluster has of this release, as JSON: [root, version of the API, kind, name]; `{}` where there is
none. One of that name may be another's, which nobody should be told to delete: labels that select tell. */}}
{{- define "aldebaran.own" -}}
{{- $root := index . 0 -}}
{{- $found := lookup (index . 1) (index . 2) $root.Release.Namespace (index . 3) -}}
{{- $labels := dig "metadata" "labels" dict $found -}}
{{- $ofChart := eq (include "aldebaran.name" $root) (dig "app.kubernetes.io/name" "" $labels) -}}
{{- $ofRelease := eq $root.Release.Name (dig "app.kubernetes.io/instance" "" $labels) -}}
{{- ternary $found dict (and $ofChart $ofRelease) | toJson -}}
{{- end -}}

{{/* A StatefulSet of this release likewise: [root, name]. */}}
{{- define "aldebaran.ownSet" -}}
{{- include "aldebaran.own" (list (index . 0) "apps/v1" "StatefulSet" (index . 1)) -}}
{{- end -}}

{{/* The StatefulSets of all auditors, as kubectl takes them: root. */}}
{{- define "aldebaran.auditorSets" -}}
{{- $sets := list -}}
{{- range .Values.auditor.ids }}{{ $sets = append $sets (include "aldebaran.part" (list $ (printf "auditor-%s" .))) }}{{ end -}}
{{- join " " $sets -}}
{{- end -}}

{{/* How one of a pair judges while the other builds its checkpoints again: root. */}}
{{- define "aldebaran.secondLater" -}}
{{- $ids := .Values.auditor.ids -}}
{{- if gt (len $ids) 1 -}}
{{- printf " Set auditor.secondByHand to true with it, so that auditor %s judges on as it is; once %s has caught up (docs/kubernetes.md#begin-checkpoints-anew): kubectl -n %s delete pod %s, then this without that value." (last $ids) (first $ids) .Release.Namespace (include "aldebaran.auditorPod" (list . (last $ids))) -}}
{{- end -}}
{{- end -}}

{{/* What remains to be done once sets of auditors are deleted: root. Kubernetes leaves pods whose volumes are
to be others, and those of which nothing else changes. */}}
{{- define "aldebaran.thenAnew" -}}
{{- $first := include "aldebaran.auditorPod" (list . (first .Values.auditor.ids)) -}}
{{- printf "then this again, and kubectl -n %s delete pod %s, if that has left it.%s" .Release.Namespace $first (include "aldebaran.secondLater" .) -}}
{{- end -}}

{{/* What one auditor runs with, as JSON: [root, id]. Its pod tells: a set that replaces none by itself may
have other values already. Without a pod that is what its set makes next. */}}
{{- define "aldebaran.auditorRuns" -}}
{{- $root := index . 0 -}}
{{- $pod := include "aldebaran.own" (list $root "v1" "Pod" (include "aldebaran.auditorPod" .)) | fromJson -}}
{{- $set := include "aldebaran.ownSet" (list $root (include "aldebaran.part" (list $root (printf "auditor-%s" (index . 1))))) | fromJson -}}
{{- $ran := dict -}}
{{- range dig "spec" "containers" (dig "spec" "template" "spec" "containers" list $set) $pod -}}
{{- if eq .name "auditor" -}}
{{- range .env }}{{ $_ := set $ran .name (dig "value" "" .) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- $ran | toJson -}}
{{- end -}}

{{/* Fails where the second of a pair would begin its checkpoints anew while the first one does: root. */}}
{{- define "aldebaran.secondKept" -}}
{{- $root := . -}}
{{- $auditor := .Values.auditor -}}
{{- range $id := ternary list (rest $auditor.ids) $auditor.secondByHand -}}
{{- $ran := include "aldebaran.auditorRuns" (list $root $id) | fromJson -}}
{{- if hasKey $ran "ALDEBARAN_AUDITOR_SHUFFLE_PARTITIONS" -}}
{{- $wanted := include "aldebaran.auditorSettings" (list $root $id) | fromJson -}}
{{- range $value, $setting := dict "shufflePartitions" "auditor_shuffle_partitions" "checkpoints.store" "auditor_store" -}}
{{- $before := dig (printf "ALDEBARAN_%s" (upper $setting)) "" $ran -}}
{{- $now := dig $setting "" $wanted | toString -}}
{{- if ne $before $now -}}
{{- fail (printf "auditor.%s is %q, and auditor %s runs with %q: it would begin its checkpoints anew while the first one reads its streams from the oldest kept event too, and what comes meanwhile would wait.%s" $value $now $id $before (include "aldebaran.secondLater" $root)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where a StatefulSet's volume is to become another one: [root, part, storage, its value, access modes]. */}}
{{- define "aldebaran.volumeKept" -}}
{{- $root := index . 0 -}}
{{- $name := include "aldebaran.part" (list $root (index . 1)) -}}
{{- $storage := index . 2 -}}
{{- $value := index . 3 -}}
{{- $modes := index . 4 -}}
{{- $namespace := $root.Release.Namespace -}}
{{- range dig "spec" "volumeClaimTemplates" list (include "aldebaran.ownSet" (list $root $name) | fromJson) -}}
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
{{- fail (printf "%s.accessModes is %s, and StatefulSet %s was made with %s, which Kubernetes does not change. Auditors build checkpoints again that they lose: kubectl -n %s delete statefulset %s --cascade=orphan (their pods run on), then kubectl -n %s delete pvc %s --wait=false (each goes with its pod), %s" $value (toJson $modes) $name (toJson .spec.accessModes) $namespace (include "aldebaran.auditorSets" $root) $namespace (join " " $claims) (include "aldebaran.thenAnew" $root)) -}}
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
{{- $set := include "aldebaran.ownSet" (list $root $name) | fromJson -}}
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
{{- with include "aldebaran.ownSet" (list $root $name) | fromJson -}}
{{- $made := ternary "volume" "temporary" (not (empty .spec.volumeClaimTemplates)) -}}
{{- if ne $made $wanted -}}
{{- fail (printf "auditor.checkpoints.type is %s, and StatefulSet %s was made with %s, which Kubernetes does not change. Auditors build checkpoints again that they lose: kubectl -n %s delete statefulset %s --cascade=orphan (their pods run on), %s" $wanted $name $made $root.Release.Namespace (include "aldebaran.auditorSets" $root) (include "aldebaran.thenAnew" $root)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where the embedded Postgres is to have another password than its volume was made with: root. */}}
{{- define "aldebaran.passwordKept" -}}
{{- $name := include "aldebaran.part" (list . "postgres") -}}
{{- $wanted := .Values.postgres.embedded.password -}}
{{- $kept := dig "data" "password" "" (include "aldebaran.own" (list . "v1" "Secret" $name) | fromJson) | b64dec -}}
{{- $volume := lookup "v1" "PersistentVolumeClaim" .Release.Namespace (printf "data-%s-0" $name) -}}
{{- if and $volume $wanted $kept (ne $wanted $kept) -}}
{{- fail (printf "postgres.embedded.password is not the one that the database was made with, and it would go on asking for that. Leave it empty, or change it in the database first: kubectl -n %s exec -it %s-0 -- psql -h 127.0.0.1 -U aldebaran -c \"ALTER USER aldebaran PASSWORD '…'\", then kubectl -n %s delete secret %s, then this again, and restart the programs." .Release.Namespace $name .Release.Namespace $name) -}}
{{- end -}}
{{- end -}}

{{/* Fails where a store of this release is left behind with all that it holds: [root, postgres or kafka]. */}}
{{- define "aldebaran.storeKept" -}}
{{- $root := index . 0 -}}
{{- $store := index . 1 -}}
{{- $name := include "aldebaran.part" . -}}
{{- $namespace := $root.Release.Namespace -}}
{{- $mode := (index $root.Values $store).mode -}}
{{- if and (ne $mode "embedded") (include "aldebaran.ownSet" (list $root $name) | fromJson) -}}
{{- $what := "the ledger is in it: programs would begin an empty one, forget all that waits, and tell again, without a mark, what was told. To take it along: this with postgres.mode embedded and `replicas: 0` for all that use it, then its dump" -}}
{{- if eq $store "kafka" -}}
{{- $what = "all events are in it: what is not judged and told yet would be lost, and books begin anew. First: this with kafka.mode embedded and `components.gateway.replicas` 0 (amqp's too), then wait until all is judged and told" -}}
{{- end -}}
{{- fail (printf "%s.mode is %s, and StatefulSet %s is there; %s; then kubectl -n %s delete statefulset %s (its volumes stay), then this again. Every step: docs/kubernetes.md#another-postgres-another-kafka." $store $mode $name $what $namespace $name) -}}
{{- end -}}
{{- end -}}

{{/* Fails where the number of embedded brokers is to change, of those that run or whose volumes stayed:
new ones, which know nothing, could outvote the one that knows all: root. */}}
{{- define "aldebaran.brokersKept" -}}
{{- $name := include "aldebaran.part" (list . "kafka") -}}
{{- $wanted := int .Values.kafka.embedded.replicas -}}
{{- $set := include "aldebaran.ownSet" (list . $name) | fromJson -}}
{{- /* Whosesoever they are: brokers would take volumes of these names. */ -}}
{{- $claims := list -}}
{{- range $number := until 3 -}}
{{- $claim := printf "data-%s-%d" $name $number -}}
{{- if lookup "v1" "PersistentVolumeClaim" $.Release.Namespace $claim }}{{ $claims = append $claims $claim }}{{ end -}}
{{- end -}}
{{- $made := ternary 1 3 (join " " $claims | hasSuffix "-0") -}}
{{- if $set -}}
{{- if ne (int $set.spec.replicas) $wanted -}}
{{- fail (printf "kafka.embedded.replicas is %d, and this release was installed with %d: topics would keep the copies that they have, and the brokers' vote would not be the same for all. Leave it at %d; or install a release of another name with %d and move publishers to it; or bring brokers of your own (kafka.mode external or strimzi)." $wanted (int $set.spec.replicas) (int $set.spec.replicas) $wanted) -}}
{{- end -}}
{{- else if and $claims (ne $made $wanted) -}}
{{- fail (printf "kafka.embedded.replicas is %d, and the volumes that are kept are of %d: brokers that know nothing could outvote the one that knows all. Set it to %d; or begin anew, without any event of before: kubectl -n %s delete pvc %s, then this again." $wanted $made $made .Release.Namespace (join " " $claims)) -}}
{{- end -}}
{{- end -}}

{{/* Fails where Strimzi's operator would give a stream's topic another number of partitions: root. The Job
refuses it in the same words, and says nothing of fewer, which the operator cannot make. */}}
{{- define "aldebaran.partitionsKept" -}}
{{- $api := "kafka.strimzi.io/v1" -}}
{{- if .Capabilities.APIVersions.Has $api -}}
{{- range $stream := include "aldebaran.streams" . | fromJsonArray -}}
{{- $name := $stream.stream -}}
{{- $wanted := dig $name "partitions" $stream.partitions $.Values.topics.list | int -}}
{{- $topic := lookup $api "KafkaTopic" $.Release.Namespace (include "aldebaran.topicObject" $name) -}}
{{- $present := dig "spec" "partitions" $wanted $topic | int -}}
{{- if ne $present $wanted -}}
{{- $why := ternary "more partitions would move keys while their state stays; declare a new stream, or set partitions back" "Kafka takes none away; set partitions back" (gt $wanted $present) -}}
{{- fail (printf "topic %s has %d partitions, declared are %d: %s" $name $present $wanted $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Fails where the auditors' drivers are to be made by another kind of object: root. Helm makes the new ones
while the old ones still end, and two drivers must never share a checkpoint. */}}
{{- define "aldebaran.driversKept" -}}
{{- $root := . -}}
{{- $namespace := .Release.Namespace -}}
{{- $sets := dict "runners" (list "local" "cluster") "api" "apps/v1" "kind" "StatefulSet" "resource" "statefulset" -}}
{{- $kubeflow := dict "runners" (list "kubeflow") "api" "sparkoperator.k8s.io/v1beta2" "kind" "SparkApplication" "resource" "sparkapplications.sparkoperator.k8s.io" -}}
{{- $apache := dict "runners" (list "apache") "api" "spark.apache.org/v1" "kind" "SparkApplication" "resource" "sparkapplications.spark.apache.org" -}}
{{- range $maker := list $sets $kubeflow $apache -}}
{{- /* A look-up of a kind that the cluster has not would fail by itself. */ -}}
{{- $known := or (eq $maker.kind "StatefulSet") ($root.Capabilities.APIVersions.Has $maker.api) -}}
{{- if and $known (not (has $root.Values.auditor.runner $maker.runners)) -}}
{{- $there := list -}}
{{- range $id := $root.Values.auditor.ids -}}
{{- $name := include "aldebaran.part" (list $root (printf "auditor-%s" $id)) -}}
{{- if include "aldebaran.own" (list $root $maker.api $maker.kind $name) | fromJson }}{{ $there = append $there $name }}{{ end -}}
{{- end -}}
{{- with $there -}}
{{- fail (printf "auditor.runner is %s, and the drivers are still those of %s %s: they would end while the new ones start, two on one checkpoint. First: kubectl -n %s delete %s %s, then wait until the pods are gone: kubectl -n %s wait --for=delete pod -l aldebaran/auditors=%s --timeout=10m, then this again. Nothing is watched in between; what comes meanwhile is read afterwards." $root.Values.auditor.runner $maker.kind (join ", " .) $namespace $maker.resource (join " " .) $namespace (include "aldebaran.fullname" $root)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What stays when the release goes, or no longer asks for it: Helm's word for that, and Argo CD's. */}}
{{- define "aldebaran.keep" -}}
{helm.sh/resource-policy: keep, argocd.argoproj.io/sync-options: Prune=false}
{{- end -}}
