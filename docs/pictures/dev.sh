#!/bin/sh
# Records a real run of `backplane dev` on a plugin that was just made, and draws it as docs/pictures/dev.svg.
#
#   docs/pictures/dev.sh [COMMAND]      COMMAND: backplane, by default .build/debug/backplane
#
# Needs swift, and `script` of util-linux, which gives `dev` a terminal. The folder it runs in is shortened to `~` in the picture.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
backplane=$(realpath "${1:-$here/../../.build/debug/backplane}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$backplane" new package Tides >/dev/null
cd Tides
swift build >/dev/null
recorded=$folder/recorded.txt source=Sources/Tides/TidesManager.swift

# Waits until `dev` has said this, so many times.
says() {
    for _ in $(seq 600); do
        if [ "$(grep -c "$1" "$recorded" 2>/dev/null)" -ge "${2:-1}" ]; then sleep 2; return; fi
        sleep 0.1
    done
    echo "dev has not said: $1" >&2
    exit 1
}

# What a person does: saves files, and presses keys, which go to standard output.
person() {
    says 'running '
    sed -i 's/"Hello, \\(name)!"/"High tide, \\(name)!"/' "$source"
    says 'swapped '
    sed -i 's/"High tide, \\(name)!"/"High tide, \\(nmae)!"/' "$source"
    says 'failed '
    sed -i 's/"High tide, \\(nmae)!"/"Low tide, \\(name)!"/' "$source"
    says 'swapped ' 2
    printf b
    says 'rolled back '
    printf g
    says 'in memory '
    printf q
}

person | TERM=xterm script -q -f -e -c "stty columns 120; exec '$backplane' dev" "$recorded" >/dev/null
sed -e '1{/^Script started/d}' -e '/^Script done/d' -e "s#$folder#~#g" "$recorded" \
    | LC_ALL=C awk -v title='backplane dev' -v columns=120 -f "$here/terminal.awk" >"$here/dev.svg"
echo "drawn: docs/pictures/dev.svg"
