#!/usr/bin/env bash
# Builds etcd, kube-apiserver, kube-scheduler, kube-controller-manager and kwok from their Go modules
# into a cache outside the tree, and prints the folder. A finished cache is used as it is.
# An interrupted build leaves nothing half: programs are built beside the cache and moved in one step.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=v1.37.2
sum=$(sha256sum "$here/kube-binaries/kube/go.sum" | cut -c1-12)
root=${KC_SERVICES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kube-collector-tests}
target=$root/kube-$version-$sum
if [ -x "$target/kwok" ]; then echo "$target"; exit 0; fi
mkdir -p "$root"
exec 9>"$root/.build-kube.lock"
flock 9
if [ -x "$target/kwok" ]; then echo "$target"; exit 0; fi
work=$(mktemp -d "$root/.kube-XXXXXX")
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false
flags=k8s.io/component-base/version
link="-s -w -X $flags.gitVersion=$version -X $flags.gitMajor=1 -X $flags.gitMinor=37 -X $flags.gitTreeState=clean -X $flags.gitCommit=unknown -X $flags.buildDate=1970-01-01T00:00:00Z"
cd "$here/kube-binaries/kube"
echo "building etcd, kube-apiserver, kube-scheduler, kube-controller-manager, kwok $version (10 to 20 minutes, once)" >&2
nice go build -trimpath -ldflags "-s -w" -o "$work/etcd" go.etcd.io/etcd/server/v3 >&2
nice go build -trimpath -ldflags "$link" -o "$work/" k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes/cmd/kube-scheduler \
  k8s.io/kubernetes/cmd/kube-controller-manager sigs.k8s.io/kwok/cmd/kwok >&2
chmod 755 "$work"
mv "$work" "$target"
trap - EXIT
echo "$target"
