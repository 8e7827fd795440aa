# SPDX-License-Identifier: GPL-2.0-or-later
#
# For scripts that try things on clean machines: file systems that debootstrap makes, with name spaces for processes and
# mounts. To be sourced, after debian.sh; `source` is the clone that is tried and `folder` where file systems are.

path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

# Why none of this can be done here, or nothing.
why_no_machines() {
    if [ "$(id -u)" != 0 ]; then
        echo 'only root can make file systems'
    elif ! command -v debootstrap >/dev/null; then
        echo 'debootstrap is missing; on Debian: apt-get install debootstrap'
    elif ! unshare --mount --pid --fork true 2>/dev/null; then
        echo 'no name spaces of mounts and processes can be made here'
    elif ! git -C "$source" rev-parse --quiet --verify HEAD >/dev/null; then
        echo 'the sources are not a clone that has a commit'
    else
        why_no_mirror
    fi
}

# In name spaces of its own: mounts and processes end with the command.
apart() { unshare --mount --pid --fork --kill-child -- "$@"; }

# What a machine needs to know of this one's network: nothing, mostly.
network() {
    for name in http_proxy https_proxy no_proxy; do
        eval "value=\${$name-}"
        [ -z "$value" ] || echo "$name=$value"
    done
    if command -v npm >/dev/null; then
        for name in registry proxy https_proxy; do
            value=$(npm config get "$(echo $name | tr _ -)" 2>/dev/null) || continue
            case $value in '' | null | undefined) ;; *) echo "npm_config_$name=$value" ;; esac
        done
        echo npm_config_cafile=/usr/local/share/certificates
    fi
}

# empty RELEASE: its file system in $folder, made once.
empty() {
    base=$folder/$1
    [ ! -f "$base/made" ] || return 0
    rm -rf "$base"
    apart debootstrap --variant=minbase "$1" "$base" "$(mirror)" >"$folder/$1.log" 2>&1 || {
        tail -n 5 "$folder/$1.log"
        return 1
    }
    apt-config dump | grep -E '^Acquire::(https?|Check-|Retries)' >"$base/etc/apt/apt.conf.d/90network" || :
    for name in /etc/resolv.conf /etc/hosts; do
        [ ! -e "$name" ] || cp -L "$name" "$base/etc/"
    done
    certificates=/etc/ssl/certs/ca-certificates.crt
    [ ! -e "$certificates" ] || cp -L "$certificates" "$base/usr/local/share/certificates"
    echo 'newcomer:x:1000:1000::/home/newcomer:/bin/sh' >>"$base/etc/passwd"
    echo 'newcomer:x:1000:' >>"$base/etc/group"
    mkdir -p "$base/home/newcomer"
    # Nothing of it has to survive a power cut: installing takes a fraction of the time.
    echo force-unsafe-io >"$base/etc/dpkg/dpkg.cfg.d/unsafe-io"
    : >"$base/made"
}

# home WHO: the folder in $machine that a login begins in.
home() { sed -n "s/^$1:.*:\([^:]*\):[^:]*\$/\1/p" "$machine/etc/passwd"; }

# on MACHINE WHO COMMAND...: in the clone, or the home folder of one who has none, with the environment of a first login.
on() {
    machine=$1
    case $2 in
    root) owner=0:0 home=$(home root) ;;
    *) owner=1000:1000 home=$(home newcomer) ;;
    esac
    shift 2
    # shellcheck disable=SC2016,SC2046 # expanded by the inner shell; a list of words
    apart sh -eu -c '
        machine=$1 owner=$2 home=$3
        shift 3
        mount -t proc none "$machine/proc"
        mount --rbind /sys "$machine/sys"
        mount --rbind /dev "$machine/dev"
        exec chroot --userspec="$owner" "$machine" /usr/bin/env -i HOME="$home" "$@"
    ' sh "$machine" "$owner" "$home" PATH=$path TERM=dumb $(network) \
        sh -c 'cd; [ ! -d bdgrind ] || cd bdgrind; exec "$@"' sh "$@" </dev/null
}
