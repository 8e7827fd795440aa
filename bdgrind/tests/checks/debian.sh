# SPDX-License-Identifier: GPL-2.0-or-later
#
# For scripts that fetch from Debian: where this machine's apt gets its packages, and an apt of one's own, which leaves
# the machine as it is. To be sourced.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

mirror() {
    apt-get indextargets --format '$(LABEL) $(SITE)' 2>/dev/null | sed -n 's/^Debian \([a-z].*\)/\1/p' | sed 1q
}

# Why nothing can be had, or nothing.
why_no_mirror() {
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        echo 'no package helps: this machine has no apt'
    elif [ ! -f "$keyring" ]; then
        echo 'the keys of Debian are missing; on Debian: apt-get install debian-archive-keyring'
    elif [ -z "$(mirror)" ]; then
        echo 'no package helps: apt is not set up for a mirror of Debian here'
    fi
}

# apt_of FOLDER ARCHITECTURE RELEASE: from then on apt_here is for that, with lists and cache in FOLDER, and without an
# installed package.
apt_of() {
    apt=$1
    architecture=$2
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    : >"$apt/status"
    echo "deb [signed-by=$keyring] $(mirror) $3 main" >"$apt/sources.list"
}

apt_here() {
    apt-get -qq -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State="$apt" \
        -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o APT::Sandbox::User=root \
        -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Acquire::Languages=none \
        -o Acquire::http::Timeout=30 -o Acquire::Retries=1 "$@" </dev/null
}

# The lists; fails where the mirror has no such release, or cannot be reached.
apt_update() {
    apt_here update >"$apt/log" 2>&1 && ! grep -q '^[EW]:' "$apt/log"
}
