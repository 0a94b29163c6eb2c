#!/usr/bin/env bash
# Measures trueup and, when given, other programs on the same server, in one run.
#
#   benches/rivals.sh TRUEUP [PROGRAM...]
#
# Each PROGRAM is a path. A file PROGRAM.rival beside it, or RIVAL_ARGS, RIVAL_STEPS, RIVAL_ROW and RIVAL_FULL, say how
# it shows Secrets of all namespaces (see pty_reader.py run --help); k9s and trueup are known.
# Environment: SECRETS (10000), RUNS (3), IDLE (30 s), UPDATES (500 a second).
# The figures are medians; compare them within one run only, on a machine that does nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,9p' "$0" >&2; exit 2; }

secrets=${SECRETS:-10000} runs=${RUNS:-3}
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT

if [ -z "${SIM_LISTEN:-}" ]; then
    cargo build --locked --release --example sim_listen
    SIM_LISTEN=${CARGO_TARGET_DIR:-target}/release/examples/sim_listen
fi
mkfifo "$work/updates"
"$SIM_LISTEN" 127.0.0.1:0 "$secrets" <"$work/updates" >"$work/kubeconfig" &
server=$!
# Kept open, so that the server's input does not end.
exec 7>"$work/updates"
until grep -q '^contexts:' "$work/kubeconfig"; do
    kill -0 "$server" || { echo "rivals.sh: the server ended" >&2; exit 1; }
    sleep 0.1
done

# Sets args, steps, row and full for a program.
describe() {
    args=${RIVAL_ARGS:-} steps=${RIVAL_STEPS:-} row=${RIVAL_ROW:-load-secret-[0-9]{5\}} full=${RIVAL_FULL:-}
    case $(basename "$1") in
        trueup*)
            args="--context sim --utc" row='load-secret-[0-9]{5}' full="$secrets of $secrets"
            steps='wait:1 Hosted|key:1' ;;
        k9s*) args="-c secrets -A --readonly --logLevel error" full="\\[$secrets\\]" ;;
    esac
    # shellcheck source=/dev/null
    [ ! -f "$1.rival" ] || . "$1.rival"
}

# The same program may be given twice: its names are then numbered.
measure() {
    describe "$2"
    python3 benches/pty_reader.py run "$1" "$2 $args" --kubeconfig "$work/kubeconfig" --steps "$steps" --row "$row" \
        --full "$full" --pipe "$work/updates" --updates "${UPDATES:-500}" --idle "${IDLE:-30}" >>"$work/figures"
}

for run in $(seq "$runs"); do
    number=0
    for program in "$@"; do
        number=$((number + 1))
        echo "run $run of $runs: $program, load $(cut -d' ' -f1 /proc/loadavg)" >&2
        measure "$number $(basename "$program")" "$(realpath "$program")"
    done
done
echo "$secrets Secrets, 200x50, medians of $runs runs, $(nproc) cores"
python3 benches/pty_reader.py table "$work/figures"
