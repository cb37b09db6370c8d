#!/bin/sh
# setup.sh [demo|check]: install the Debian/Ubuntu packages that building argus,
# the small ffmpeg and (check) the tests needs. Does nothing when all are there.
# Without root or sudo it prints the one line to run and fails.
#
# Copyright (c) 2026 the argus authors. BSD-2-Clause, see LICENSE.

set -u
LC_ALL=C
export LC_ALL

# compiler and libraries of argus; the source package and the libraries of ffmpeg
# (libfreetype and a font for drawtext in the demo's clip, x264 for a transcode)
packages="gcc libc6-dev make pkg-config libjansson-dev libpcre2-dev libjpeg-dev libspng-dev
    libcurl4-openssl-dev nasm xz-utils curl ca-certificates zlib1g-dev libfreetype-dev
    fonts-dejavu-core libx264-dev"
case ${1:-demo} in
    demo) ;;
    # g++ compiles the headers as C++; the libav libraries let the program read videos; x265 is
    # another encoder that carries captions
    check) packages="$packages libcunit1-dev g++ valgrind
        libavformat-dev libavcodec-dev libswscale-dev libx265-dev" ;;
    *) echo "usage: setup.sh [demo|check]" >&2; exit 2 ;;
esac

say() { printf '%-7s %s\n' SETUP "$*"; }

if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
    say "no apt-get here: these packages, or what they are called here, must be there:"
    say $packages
    exit 0
fi

# drawtext asks for HarfBuzz from FFmpeg 6.1 on; Debian 12 has 5.1
version=$(sed -n 's/^VERSION_ID="*\([0-9.]*\)"*$/\1/p' /etc/os-release 2>/dev/null)
[ "$version" = 12 ] || packages="$packages libharfbuzz-dev"

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=
for p in $packages; do
    installed "$p" || missing="$missing $p"
done
if [ -z "$missing" ]; then
    say "all packages are there"
    exit 0
fi

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as=
elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as=sudo
else
    echo "setup: packages are missing and this user can't install them. Run as root:" >&2
    echo "    apt-get update && $install" >&2
    exit 1
fi

# Output of apt only when it fails.
log=$(mktemp "${TMPDIR:-/tmp}/argus-setup.XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT

apt_install() { $as env DEBIAN_FRONTEND=noninteractive $install >"$log" 2>&1; }

say "installing:$missing"
if ! apt_install; then
    say "first refreshing the package lists (apt-get update)"
    $as apt-get update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
    apt_install || {
        cat "$log" >&2
        echo "setup: apt-get failed, see above. The command was:" >&2
        echo "    $install" >&2
        exit 1
    }
fi
say "packages installed"
