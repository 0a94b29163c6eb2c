#!/bin/sh
# Puts moto, an AWS written by others, into the folder the tests look in:
#
#	install.sh [FOLDER]      FOLDER is $TRUEUP_REAL_DIR, or trueup-real in the user's cache folder
#
# Does nothing when it is there already. Needs python3 with venv, and PyPI the first time.
set -eu
version=5.2.5
folder=${1:-${TRUEUP_REAL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-real}}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

wanted="moto $version $(python3 -c 'import sys; print(sys.version.split()[0])')"
if [ -x "$folder/moto/bin/moto_server" ] && [ "$(cat "$folder/moto/installed" 2>/dev/null)" = "$wanted" ]; then
	echo "moto is up to date"
	exit 0
fi
rm -rf "$folder/moto"
python3 -m venv "$folder/moto"
"$folder/moto/bin/pip" install --quiet --disable-pip-version-check "moto[server]==$version"
# Last, so that an interrupted installation is repeated.
echo "$wanted" >"$folder/moto/installed"
echo "moto is installed"
