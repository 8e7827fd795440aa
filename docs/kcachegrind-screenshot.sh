#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Takes a picture of KCachegrind showing a profile, without a screen:
#   kcachegrind-screenshot.sh PROFILE PICTURE.png [EVENT]
# EVENT is the short name of the event to choose, SpLoss1 by default. The callee map is in front.
#
# Needs, on Debian: kcachegrind xvfb xauth dbus xdotool imagemagick
set -eu

if [ "${1-}" = --inside ]; then
    shift
    # The second half, on the virtual screen.
    kcachegrind "$1" >"$XDG_CONFIG_HOME/log" 2>&1 &
    viewer=$!
    trap 'kill $viewer 2>/dev/null || true' EXIT
    # The window's title names the command, in brackets, once the profile is loaded.
    until xdotool search --onlyvisible --name . getwindowname %@ 2>/dev/null | grep -q '].*KCachegrind'; do
        kill -0 $viewer
        sleep 1
    done
    sleep 2
    xdotool mousemove 615 99 click 1 # the tab "Callee Map", at the size set below
    sleep 2
    import -window root "$2"
    if grep "^Loading" "$XDG_CONFIG_HOME/log" >&2; then exit 1; fi # what it did not understand
    exit
fi

if [ $# -lt 2 ]; then
    sed -n 's/^# \{0,1\}//; 4,8p' "$0" >&2
    exit 2
fi
profile=$(readlink -f "$1")
picture=$(readlink -f "$2")
event=${3-SpLoss1}
for program in kcachegrind xvfb-run dbus-run-session xdotool import; do
    if ! command -v $program >/dev/null; then
        echo "$0: $program is missing" >&2
        exit 2
    fi
done

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
mkdir -m 700 "$home/config" "$home/run"

# KCachegrind remembers the chosen event per command: the letters and digits of the cmd: line.
command=$(sed -n 's/^cmd: *//p; /^events:/q' "$profile" | head -n 1 | tr -cd '[:alnum:]')
cat >"$home/config/kcachegrindrc" <<CONFIG
[TipOfDay]
RunOnStart=false

[TracePositions]
EventType-$command=$event

[MainWindow]
1600x1000 screen: Height=1000
1600x1000 screen: Width=1600
CONFIG

HOME=$home XDG_CONFIG_HOME=$home/config XDG_CACHE_HOME=$home XDG_RUNTIME_DIR=$home/run LC_ALL=C.UTF-8 \
    xvfb-run -a -s '-screen 0 1600x1000x24' \
    timeout 60 dbus-run-session -- sh "$0" --inside "$profile" "$picture"
echo "$picture"
