#!/bin/sh
# Builds kube-testserver into the folder the tests look in:
#
#	build.sh [FOLDER]      FOLDER is $TRUEUP_REAL_DIR, or trueup-real in the user's cache folder
#
# Does nothing when the one that is there was built from these sources. A first build compiles all of kube-apiserver:
# about 7 minutes and 2 GiB on two cores.
set -eu
folder=${1:-${TRUEUP_REAL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-real}}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")"

sources=$(cat -- *.go go.mod go.sum build.sh | sha256sum | cut -d' ' -f1)-$(go env GOVERSION GOARCH | tr '\n' '-')
if [ -x "$folder/kube-testserver" ] && [ "$(cat "$folder/kube-testserver.sources" 2>/dev/null)" = "$sources" ]; then
	echo "kube-testserver is up to date"
	exit 0
fi

# /version must name a version that kubectl can parse; kube-apiserver takes it from the linker.
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=$(echo "$version" | cut -d. -f2)
stamp=k8s.io/component-base/version
new=$folder/.kube-testserver.$$
trap 'rm -f "$new"' EXIT
go build -buildvcs=false -trimpath -o "$new" -ldflags "-s -w \
	-X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor -X $stamp.gitTreeState=clean" .
# A rename, so that a server that is running keeps its file and nobody ever starts half a program.
mv -f "$new" "$folder/kube-testserver"
echo "$sources" >"$folder/kube-testserver.sources"
echo "kube-testserver is built"
