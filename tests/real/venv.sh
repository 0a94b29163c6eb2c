#!/bin/sh
# Installs Python clients written by others into the folder the tests look in:
#
#	venv.sh NAME [FOLDER]      NAME is a folder here with a requirements.txt: ibm (IBM's clients), mcp (the MCP SDK) or
#	                           formats (readers of output formats);
#	                           FOLDER is $TRUEUP_REAL_DIR, or trueup-real in the user's cache folder
#
# Does nothing when those that are there were installed from this list.
set -eu
name=${1:?venv.sh: name the clients: ibm, mcp or formats}
folder=${2:-${TRUEUP_REAL_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/trueup-real}}
mkdir -p "$folder"
venv=$(cd "$folder" && pwd)/$name-venv
cd "$(dirname "$0")"

wanted=$(cat "$name/requirements.txt" venv.sh | sha256sum | cut -d' ' -f1)
if [ -x "$venv/bin/python" ] && [ "$(cat "$venv/installed" 2>/dev/null)" = "$wanted" ]; then
	echo "the $name clients are up to date"
	exit 0
fi
rm -rf "$venv"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$name/requirements.txt"
echo "$wanted" >"$venv/installed"
echo "the $name clients are installed"
