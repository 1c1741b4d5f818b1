# Packages of other Debian suites and kernels, fetched without touching this machine's apt or dpkg: lists and packages
# are kept under build/apt. Source it with `build` set to the build directory.
# SPDX-License-Identifier: LGPL-2.1-or-later

# The mirror this machine uses for Debian itself.
debian_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' 'Created-By: Packages' |
        awk '$1 == "Debian" && $2 !~ /-/ {print $3; exit}'
}

# suite_open SUITE: what follows is about that suite (bookworm-security, sid, ...). Package lists older than a day are
# fetched anew; where that fails, older ones do.
suite_open() {
    local suite=$1 mirror lists
    suite_dir=$build/apt/$suite
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { echo "apt-get knows no Debian mirror on this machine, and the packages of $suite come from one: run 'apt-get update' with Debian's main repository configured." >&2; return 1; }
    case $suite in *-security) mirror=${mirror%/}-security ;; esac
    mkdir -p "$suite_dir/lists/partial" "$suite_dir/cache/archives/partial" "$suite_dir/etc/apt.conf.d" "$suite_dir/etc/preferences.d"
    : > "$suite_dir/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > "$suite_dir/etc/sources.list"
    # A mirror that stands still is past its Release file's date; the signature counts all the same.
    cat > "$suite_dir/apt.conf" <<A
Dir::State "$suite_dir";
Dir::State::status "$suite_dir/status";
Dir::Cache "$suite_dir/cache";
Dir::Etc "$suite_dir/etc";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "root";
A
    lists=$(find "$suite_dir/lists" -name '*_Packages*' -mtime -1 | head -1)
    [ -n "$lists" ] && return
    suite_apt apt-get update -q >&2 || suite_apt apt-get update -q >&2 ||
        find "$suite_dir/lists" -name '*_Packages*' | grep -q . ||
        { echo "The package lists of $suite could not be had from $mirror; check that it can be reached." >&2; return 1; }
}

suite_apt() { APT_CONFIG=$suite_dir/apt.conf "$@"; }

# suite_depends PACKAGE PATTERN: the name among what it depends on that matches the (extended) pattern.
suite_depends() {
    suite_apt apt-cache show --no-all-versions "$1" 2>/dev/null | sed -n 's/^Depends: //p' | tr ',|' '\n\n' | sed 's/^ *//; s/[ (].*//' | grep -Ex "$2" | head -1
}

# suite_download DIRECTORY PACKAGE...: these packages alone.
suite_download() {
    local dir=$1; shift
    mkdir -p "$dir"
    (cd "$dir" && suite_apt apt-get download -q "$@" >&2) || suite_stale
}

# What the lists name may be gone from the mirror: they are fetched anew the next time.
suite_stale() {
    rm -rf "$suite_dir/lists"
    echo "The mirror does not have what its package lists named; run this again, and the lists are fetched anew." >&2
    return 1
}

# suite_download_all DIRECTORY PACKAGE...: these, and all they depend on.
suite_download_all() {
    local dir=$1; shift
    mkdir -p "$dir/partial"
    suite_apt apt-get install -qq -y --download-only --no-install-recommends -o "Dir::Cache::archives=$dir" "$@" >&2 ||
        suite_stale
}
