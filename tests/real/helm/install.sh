#!/bin/sh
# Builds helm from the Go module proxy into the folder the tests look in:
#
#	install.sh [FOLDER]      FOLDER is $TRUEUP_REAL_DIR, or trueup-real in the user's cache folder
#
# Does nothing when this version is there already. Needs go; a first build takes about 5 minutes on two cores.
set -eu
version=v3.22.0
folder=${1:-${TRUEUP_REAL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-real}}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if [ -x "$folder/helm" ] && [ "$(cat "$folder/helm.version" 2>/dev/null)" = "$version" ]; then
	echo "helm is up to date"
	exit 0
fi
GOBIN=$folder/.helm.$$
trap 'rm -rf "$GOBIN"' EXIT
export GOBIN
go install -trimpath -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$version" "helm.sh/helm/v3/cmd/helm@$version"
# A rename, so that half a program is never started.
mv -f "$GOBIN/helm" "$folder/helm"
echo "$version" >"$folder/helm.version"
echo "helm is built"
