#!/bin/sh
# Records the screens of the example in a browser and in a terminal, as docs/pictures/screens-*, for the README.
#
#   docs/pictures/screens.sh [COMMAND]      COMMAND: backplane, by default .build/debug/backplane
#
# Beside the command are bookshelf-server and the libraries of the example. Needs chromedriver, chromium-headless-shell,
# python3, and tmux, which is the terminal.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
backplane=$(realpath "${1:-$here/../../.build/debug/backplane}")
folder=$(mktemp -d)
export XDG_STATE_HOME="$folder/state" XDG_RUNTIME_DIR="$folder/run" TMUX_TMPDIR="$folder"
mkdir -m 700 "$XDG_RUNTIME_DIR"
ended() {
    tmux kill-server 2>/dev/null || true
    kill $started 2>/dev/null || true
    wait
    rm -rf "$folder"
}
started=
trap ended EXIT

# Waits until a program has printed this, and prints the part of it in parentheses.
printed() {
    for _ in $(seq 300); do
        found=$(sed -nE "s#.*$2.*#\1#p" "$1" 2>/dev/null | head -1)
        if [ -n "$found" ]; then echo "$found"; return; fi
        sleep 0.1
    done
    cat "$1" >&2
    exit 1
}

"$(dirname "$backplane")/bookshelf-server" >"$folder/server" &
started="$started $!"
server=$(printed "$folder/server" 'listening on (http://[0-9.:]+)')
sed "s#http://127.0.0.1:8484#$server#" "$here/../../manifests/bookshelf-screens.json" >"$folder/screens.json"

"$backplane" run "$folder/screens.json" --web-address 127.0.0.1:0 >"$folder/web" 2>&1 &
started="$started $!"
python3 "$here/screens.py" "$(printed "$folder/web" '(http://127[^ ]*token=[0-9a-f]+)')" "$here"

tmux -f /dev/null new-session -d -x 80 -y 24 "'$backplane' run '$folder/screens.json' --terminal"
# Waits until the terminal shows this.
shows() {
    for _ in $(seq 300); do
        if tmux capture-pane -p | grep -q "$1"; then return; fi
        sleep 0.1
    done
    tmux capture-pane -p >&2
    exit 1
}
shows 'Page 1 of'
tmux send-keys Down
shows 'esc leave'
tmux send-keys -l whale
shows '^[0-9][0-9]* books$'
# Line by line, each of which then has all its codes.
for row in $(seq 0 23); do tmux capture-pane -e -p -S "$row" -E "$row"; done >"$folder/shown"
LC_ALL=C awk -v title='backplane run --terminal' -v columns=80 -f "$here/terminal.awk" "$folder/shown" \
    >"$here/screens-terminal.svg"
echo "drawn: docs/pictures/screens-terminal.svg"
