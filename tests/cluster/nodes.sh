#!/usr/bin/env bash
# More nodes for the test cluster of one, so that tests can lose one. CLUSTER_HOME names that cluster's folder, in
# which its programs (bin) and its state are; it must be up.
#
#   nodes.sh add NODE…     node-2, node-3, node-4: start; ends when they are Ready and have every image of node-1,
#                          which from then on takes no pods but those that are told to go there
#   nodes.sh load IMAGE…   bring images of node-1 to all others
#   nodes.sh lose NODE     as if its power went: every process of it ends at once, and nothing is told to anybody
#   nodes.sh back NODE     start it again, with its disk as it was
#   nodes.sh cut NODE      its network goes silent: packets are lost both ways, its programs run on
#   nodes.sh mend NODE     the network is back
#   nodes.sh remove        end all of them; before the cluster's own end
#
# A node has a process, a mount and a network namespace of its own and a cable to node-1, which passes on what is for
# others. So one kill ends it with all it mounted, as the end of a machine does.
set -euo pipefail

home=${CLUSTER_HOME:?the folder of the cluster that is up, with bin and state in it}
first=/run/aldebaran-cluster   # of node-1: the number of its first process, and the socket of its containerd
export PATH=$home/bin:$PATH KUBECONFIG=$home/state/admin.conf

say() { printf 'nodes: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
[ -e "$KUBECONFIG" ] || fail "the cluster is not up: no $KUBECONFIG"

control_plane=$(sed -n 's#.*https://\([0-9.]*\):.*#\1#p' "$KUBECONFIG")
around=${control_plane%.*}.0/24
pods=10.244.0.0/14             # of all nodes; node-1 has the first /16 of them
services=10.96.0.0/16
private=(/run/containerd /run/netns /var/lib/cni /var/lib/kubelet /var/log/containers /var/log/pods)

# Where the facts of NODE are. Its number counts its addresses: the cable's two ends, and its pods'.
about() {
  node=$1 number=${1#node-}
  [[ $1 =~ ^node-[2-4]$ ]] || fail "a node is called node-2, node-3 or node-4, not $1"
  state=$home/state/$node run=/run/aldebaran-$node
  near=${control_plane%.*}.$((4 * number + 1)) far=${control_plane%.*}.$((4 * number + 2))
  own_pods=10.$((243 + number)).0.0/16
}

wait_for() { # SECONDS WHAT COMMAND…
  local deadline=$((SECONDS + $1)) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || fail "$what did not come up; see $state/log"
    sleep 0.5
  done
}

in_first() { nsenter --target "$(cat "$first/pid")" --net "$@"; }
in_node() { nsenter --target "$(cat "$run/pid")" --net "$@"; }
is_ready() { kubectl get node "$node" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' | grep -q True; }

add() {
  [ -S "$first/containerd.sock" ] || fail "the cluster is not up"
  kubectl taint --overwrite node node-1 node-role.kubernetes.io/control-plane:NoSchedule >/dev/null
  local each
  for each in "$@"; do
    about "$each"
    [ ! -e "$run" ] || fail "$node is there already"
    power
    say "$node is Ready; it gets the images of node-1"
    # shellcheck disable=SC2046 # one word each
    receive $(ctr -a "$first/containerd.sock" -n k8s.io images ls -q | grep -v '^sha256:')
  done
}

load() {
  local each images
  images=("${@/#/docker.io/}")
  for each in "$home"/state/node-*; do
    about "$(basename "$each")"
    receive "${images[@]}"
  done
}

receive() { # IMAGE…, by their whole names
  ctr -a "$first/containerd.sock" -n k8s.io images export - "$@" | ctr -a "$run/containerd.sock" -n k8s.io images import - >/dev/null
}

# Start the node, and lay its cable: this machine and the other nodes find its pods by way of node-1.
power() {
  mkdir -p "$state"/{log,cni} "$run"
  setsid unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$node" >"$state/log/node.log" 2>&1 </dev/null &
  local outer=$!
  wait_for 5 "the first process of $node" pgrep -P "$outer"
  pgrep -P "$outer" >"$run/pid"
  ip link add "to-$node" netns "$(cat "$first/pid")" type veth peer name uplink netns "$(cat "$run/pid")"
  in_first ip address add "$near/30" dev "to-$node"
  in_first ip link set "to-$node" up
  in_first ip route add "$own_pods" via "$far"
  ip route replace "$far/32" via "$control_plane"
  ip route replace "$own_pods" via "$control_plane"
  wait_for 120 "$node" is_ready
}

lose() { about "$1"; kill -KILL "$(cat "$run/pid")"; wait_for 10 "the end of $node" gone; }
gone() { ! kill -0 "$(cat "$run/pid")"; }
back() { about "$1"; rm -rf "$run"; power; }
cut() { about "$1"; silence -I; }
mend() { about "$1"; silence -D; }
silence() {
  in_node iptables -t raw "$1" PREROUTING -i uplink -j DROP
  in_node iptables -t mangle "$1" POSTROUTING -o uplink -j DROP
}

remove() {
  local each
  for each in "$home"/state/node-*; do
    [ -e "$each" ] || continue
    about "$(basename "$each")"
    if [ -e "$run/pid" ]; then lose "$node"; fi
    ip route delete "$own_pods" 2>/dev/null || true
    ip route delete "$far/32" 2>/dev/null || true
    find /sys/fs/cgroup/*/"$(basename "$run")" -depth -type d -exec rmdir {} + 2>/dev/null || true
    rm -rf "$run" "$state"
  done
}

# ---- in the node: its first process

inside() {
  about "$1"
  mount --make-rshared /
  local directory
  for directory in "${private[@]}"; do
    mkdir -p "$state/private$directory"
    mount --bind "$state/private$directory" "$directory"
  done
  rm -rf "$state"/private/run/*/*  # what a machine forgets with its power
  network; runtime; workers
  wait
}

start() { # NAME COMMAND…: in the background, with a log
  local name=$1; shift
  "$@" >>"$state/log/$name.log" 2>&1 </dev/null &
}

network() {
  wait_for 10 "the link to node-1" ip link show uplink
  ip link set lo up
  ip address add "$far/30" dev uplink
  ip link set uplink up
  ip route add "$pods" via "$near"
  ip route add "$around" via "$near"
  ip link add void type bridge # addresses of Services need a route for the packet filter to see them
  ip link set void up
  ip route add "$services" dev void src "$far"
  sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1
  cat >"$state/cni/10-pods.conflist" <<JSON
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$own_pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

runtime() {
  sed -e "s#$home/state/containerd#$state/containerd#; s#$home/state/cni#$state/cni#; s#$first#$run#" \
    "$home/state/containerd.toml" >"$state/containerd.toml"
  start containerd containerd --config "$state/containerd.toml"
  wait_for 30 containerd ctr -a "$run/containerd.sock" version
}

workers() {
  local hierarchy
  for hierarchy in /sys/fs/cgroup/*/; do
    mkdir -p "$hierarchy$(basename "$run")"
  done
  sed -e "s#$first#$run#; s#^cgroupRoot: .*#cgroupRoot: /$(basename "$run")#" "$home/state/kubelet.yaml" >"$state/kubelet.yaml"
  start kubelet kube kubelet --config="$state/kubelet.yaml" --kubeconfig="$KUBECONFIG" --hostname-override="$node" \
    --node-ip="$far" --node-labels="topology.kubernetes.io/zone=zone-$number"
  # The connection tracking limits are the host's, and cannot be set from here.
  start kube-proxy kube kube-proxy --kubeconfig="$KUBECONFIG" --hostname-override="$node" --cluster-cidr="$pods" \
    --proxy-mode=iptables --conntrack-max-per-core=0 --conntrack-min=0 --conntrack-tcp-timeout-established=0 \
    --conntrack-tcp-timeout-close-wait=0
}

case ${1:-} in
  add | load | lose | back | cut | mend | inside) "$@" ;;
  remove) remove ;;
  *) sed -n '2,15s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
