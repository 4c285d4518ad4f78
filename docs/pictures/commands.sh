#!/bin/sh
# Records what `backplane graph` and `backplane explain` print of the example, as docs/pictures/graph.svg and explain.svg.
#
#   docs/pictures/commands.sh [COMMAND]      COMMAND: backplane, by default .build/debug/backplane
#
# Needs `script` of util-linux, which gives them a terminal.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
backplane=$(realpath "${1:-$here/../../.build/debug/backplane}")
cd "$here/../.."

# Draws the command that the remaining arguments are: NAME COLUMNS ARGUMENT...
draw() {
    name=$1 columns=$2
    shift 2
    TERM=xterm script -q -e -c "stty columns $columns; '$backplane' $* --plugin-path '$(dirname "$backplane")'" /dev/null </dev/null \
        | LC_ALL=C awk -v title="backplane $*" -v columns="$columns" -f "$here/terminal.awk" >"$here/$name.svg"
    echo "drawn: docs/pictures/$name.svg"
}
draw graph 110 graph manifests/bookshelf-both.json
draw explain 110 explain manifests/bookshelf-both.json LibraryManager
