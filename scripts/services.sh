#!/bin/sh
# Install the programs of the system that tests marked `service` need: a browser, which
# opens the report, LaTeX, which sets its tables, and what reads the text of a PDF. Debian
# and Ubuntu; installs only what is not there.
set -eu

browser() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

tex() {
    command -v pdflatex && kpsewhich booktabs.sty >/dev/null
}

text_of_pdf() {
    command -v pdftotext
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

missing=
browser >/dev/null || missing="$missing chromium"
tex >/dev/null || missing="$missing texlive-latex-base texlive-latex-recommended"
text_of_pdf >/dev/null || missing="$missing poppler-utils"

if [ -n "$missing" ]; then
    command -v apt-get >/dev/null ||
        fail "this system has no apt-get. Install what stands for$missing, so that
'chromium' (or Chrome), 'pdflatex' with booktabs and 'pdftotext' are on the PATH."

    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "installing$missing needs root or sudo."
        sudo=sudo
    fi

    retry apt update
    # shellcheck disable=SC2086  # several packages are several words
    retry apt install --no-install-recommends $missing
fi

found=$(browser) || fail "apt-get installed chromium, but there is no such command. On Ubuntu the
package is a snap: install Google Chrome, or 'snap install chromium'."
echo "services: $found is here."
found=$(tex) || fail "there is no pdflatex with booktabs, though its packages are installed."
echo "services: $found is here."
found=$(text_of_pdf) || fail "there is no pdftotext, though poppler-utils is installed."
echo "services: $found is here."
