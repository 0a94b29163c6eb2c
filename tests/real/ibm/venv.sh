#!/bin/sh
# Installs IBM's own Python clients into the folder the tests look in:
#
#	venv.sh [FOLDER]      FOLDER is $TRUEUP_REAL_DIR, or trueup-real in the user's cache folder
#
# Does nothing when those that are there were installed from this list.
set -eu
folder=${1:-${TRUEUP_REAL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-real}}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$(dirname "$0")"

wanted=$(cat requirements.txt venv.sh | sha256sum | cut -d' ' -f1)
if [ -x "$folder/ibm-venv/bin/python" ] && [ "$(cat "$folder/ibm-venv/installed" 2>/dev/null)" = "$wanted" ]; then
	echo "the IBM clients are up to date"
	exit 0
fi
rm -rf "$folder/ibm-venv"
python3 -m venv "$folder/ibm-venv"
"$folder/ibm-venv/bin/pip" install --quiet --disable-pip-version-check -r requirements.txt
echo "$wanted" >"$folder/ibm-venv/installed"
echo "the IBM clients are installed"
