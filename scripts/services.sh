#!/bin/sh
# Install the programs of the system that tests marked `service` need: a browser, which
# opens the report. Debian and Ubuntu; does nothing where one is already there.
set -eu

browser() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

# Mirrors have bad minutes: four attempts, with growing pauses.
retry() {
    for pause in 5 15 45; do
        "$@" && return
        echo "services: '$*' failed; again in $pause s." >&2
        sleep "$pause"
    done
    "$@"
}

apt() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get --yes "$@" </dev/null
}

fail() {
    echo "services: $*" >&2
    exit 1
}

if found=$(browser); then
    echo "services: $found is here."
    exit
fi

command -v apt-get >/dev/null ||
    fail "this system has no apt-get. Install Chromium or Chrome so that 'chromium' is on the PATH."

sudo=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "installing Chromium needs root or sudo."
    sudo=sudo
fi

retry apt update
retry apt install --no-install-recommends chromium

found=$(browser) || fail "apt-get installed chromium, but there is no such command. On Ubuntu the
package is a snap: install Google Chrome, or 'snap install chromium'."
echo "services: $found is here."
