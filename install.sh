#!/bin/sh
# Installs cardmark from a release: picks the file for this computer, verifies signature and
# checksum, and only then writes.
#
#   sh install.sh               into ~/.local, as root into /usr/local
#   sh install.sh --help        options
set -eu

# Address of the releases: the folder with SHA256SUMS. Empty until the first release.
BASE=
# Public key of minisign that signs them: the second line of its file. Empty until the first release.
KEY=

usage() {
  cat <<'END'
Usage: sh install.sh [OPTION]...

  --prefix FOLDER  install into FOLDER/bin and FOLDER/share
                   (default: ~/.local; as root: /usr/local)
  --from ADDRESS   take the release from there: https://..., file://... or a folder
  --key KEY        public key of minisign that must have signed it
  --allow-older    install a release that is older than the installed version
  --uninstall      remove what this script installed; your results are kept
  --help           show this text
END
}

say() { printf '%s\n' "$*"; }

# fail LINE...: ends the script; nothing was installed.
fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '  %s\n' "$line" >&2; done
  if [ "$installing" = yes ]; then say 'Nothing was installed.' >&2; fi
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Removes what is not finished. Folders that this script made stay only if they have a use.
clean_up() {
  if [ -n "$stage" ]; then rm -rf "$stage"; fi
  for folder in $made; do rmdir "$prefix/$folder" 2>/dev/null || :; done
  if [ -n "$existing" ]; then
    folder=$prefix
    while [ "$folder" != "$existing" ] && rmdir "$folder" 2>/dev/null; do folder=$(dirname "$folder"); done
  fi
  if [ -n "$temporary" ]; then rm -rf "$temporary"; fi
}

# Prints the target of the file for this computer.
target() {
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) say x86_64-unknown-linux-musl ;;
    aarch64 | arm64)
      # A 64-bit kernel can run a 32-bit system, as Raspberry Pi OS (32-bit) does on newer boards.
      if [ "$(bits)" = 32 ]; then say arm-unknown-linux-musleabihf; else say aarch64-unknown-linux-musl; fi ;;
    armv6* | armv7* | armv8*) say arm-unknown-linux-musleabihf ;;
    riscv64) say riscv64gc-unknown-linux-musl ;;
    *) fail "no file for a computer of type $machine" \
      'Files exist for x86-64, 64-bit and 32-bit ARM, and 64-bit RISC-V.' \
      'On others, build cardmark from its sources, with Rust and 2.2 GB of free memory: cargo build --release' ;;
  esac
}

# name_of TARGET: its name in `cargo xtask dist`.
name_of() {
  case $1 in
    riscv64gc-*) say riscv64 ;;
    *) say "${1%%-*}" ;;
  esac
}

# Prints 32 or 64: programs of this system, whatever its kernel is. The fifth byte of a program.
bits() {
  case $(od -An -tx1 -j4 -N1 /bin/sh | tr -d ' \n') in
    01) say 32 ;;
    *) say 64 ;;
  esac
}

# fetch NAME: copies a file of the release into the temporary folder.
fetch() {
  code=0
  case $BASE in
    http://* | https://*)
      if have curl; then
        message=$(curl -fsSL --connect-timeout 20 -o "$temporary/$1" "$BASE/$1" 2>&1) || code=$?
      elif have wget; then
        message=$(wget -nv -t 2 -T 20 -O "$temporary/$1" "$BASE/$1" 2>&1) || code=$?
      else
        fail 'cannot download: neither curl nor wget is installed' 'Install one of them: apt install curl'
      fi ;;
    *) message=$(cp "${BASE#file://}/$1" "$temporary/$1" 2>&1) || code=$? ;;
  esac
  if [ "$code" != 0 ]; then fail "cannot download $BASE/$1" "$message"; fi
}

# Ends unless SHA256SUMS has the signature of KEY.
verify_signature() {
  if have minisign; then
    minisign -Vq -P "$KEY" -m "$temporary/SHA256SUMS" >"$temporary/message" 2>&1 ||
      fail 'the signature of SHA256SUMS is wrong' "minisign: $(head -n 1 "$temporary/message")"
  elif have openssl && openssl pkeyutl -help 2>&1 | grep -q rawin; then
    verify_with_openssl
  else
    fail 'cannot verify the signature: minisign or OpenSSL 3 is needed' 'Install one of them: apt install minisign'
  fi
}

# A key of minisign is "Ed", 8 bytes of key number, an Ed25519 key; its signature is the same with
# an Ed25519 signature of the file.
verify_with_openssl() {
  decode() { openssl base64 -d -A -in "$1" -out "$2" 2>/dev/null || :; }
  head_hex() { head -c 10 "$1" | od -An -tx1 | tr -d ' \n'; }
  printf '%s' "$KEY" >"$temporary/key.text"
  sed -n 2p "$temporary/SHA256SUMS.minisig" | tr -d '\n' >"$temporary/signature.text"
  decode "$temporary/key.text" "$temporary/key"
  decode "$temporary/signature.text" "$temporary/signature"
  [ "$(wc -c <"$temporary/key")" -eq 42 ] || fail 'the public key is not one of minisign'
  [ "$(wc -c <"$temporary/signature")" -eq 74 ] ||
    fail 'the signature of SHA256SUMS is wrong' 'SHA256SUMS.minisig is no signature of minisign'
  [ "$(head_hex "$temporary/key")" = "$(head_hex "$temporary/signature")" ] ||
    fail 'the signature of SHA256SUMS is wrong' 'It was made with another key.'
  {
    # An Ed25519 key in the DER format.
    printf '\060\052\060\005\006\003\053\145\160\003\041\000'
    tail -c 32 "$temporary/key"
  } >"$temporary/key.der"
  tail -c 64 "$temporary/signature" >"$temporary/signature.bytes"
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$temporary/key.der" -rawin \
    -sigfile "$temporary/signature.bytes" -in "$temporary/SHA256SUMS" >/dev/null 2>&1 ||
    fail 'the signature of SHA256SUMS is wrong' 'SHA256SUMS is not what was signed.'
}

# Ends unless the file in the temporary folder has the checksum in SHA256SUMS.
verify_checksum() {
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $1\$/\1/p" "$temporary/SHA256SUMS")
  if have sha256sum; then
    found=$(sha256sum "$temporary/$1" | cut -d ' ' -f 1)
  else
    found=$(openssl dgst -sha256 -r "$temporary/$1" | cut -d ' ' -f 1)
  fi
  [ "$found" = "${expected:-none}" ] ||
    fail "the checksum of $1 is wrong" "expected $expected" "found    $found" \
      'The download is damaged, or the file was changed.'
}

# Unpacks the archive into the temporary folder, and starts the program.
unpack() {
  have xz || fail 'cannot unpack: xz is not installed' 'Install it: apt install xz-utils'
  message=$({ xz -dc "$temporary/$1" >"$temporary/archive.tar" &&
    tar -xof "$temporary/archive.tar" -C "$temporary"; } 2>&1) ||
    fail "cannot unpack $1" "$message" 'TMPDIR=FOLDER sets another folder for temporary files.'
  unpacked=$temporary/${1%.tar.xz}
  version=$("$unpacked/cardmark" --version 2>&1) ||
    fail 'the program does not start on this computer' "$version" \
      'If programs may not be started in /tmp, set TMPDIR to another folder.'
}

# make_folder PATH: below the prefix, with its parents.
make_folder() {
  case $1 in */*) make_folder "${1%/*}" ;; esac
  [ ! -d "$prefix/$1" ] || return 0
  message=$(mkdir "$prefix/$1" 2>&1) || fail "cannot write to $prefix" "$message" \
    'Use --prefix FOLDER, or run the script as root.'
  # Innermost first, for rmdir.
  made="$1 $made"
}

# order LEFT RIGHT FILL: prints <, = or > for two lists with dots; FILL stands for missing parts. Numbers precede words.
order() {
  left=$1. right=$2.
  while [ -n "$left$right" ]; do
    one=${left%%.*} other=${right%%.*}
    left=${left#"$one"} right=${right#"$other"}
    left=${left#.} right=${right#.}
    one=${one:-$3} other=${other:-$3}
    [ "$one" != "$other" ] || continue
    case $(kind "$one")$(kind "$other") in
      11) if [ "$one" -lt "$other" ]; then say '<'; return; elif [ "$one" -gt "$other" ]; then say '>'; return; fi ;;
      01 | 02 | 12) say '<'; return ;;
      10 | 20 | 21) say '>'; return ;;
      *) if LC_ALL=C expr "x$one" '<' "x$other" >/dev/null; then say '<'; else say '>'; fi; return ;;
    esac
  done
  say '='
}

# kind PART: prints 0 for nothing, 1 for a number, 2 for a word.
kind() {
  case $1 in
    '') say 0 ;;
    *[!0-9]*) say 2 ;;
    *) say 1 ;;
  esac
}

# is_older VERSION OTHER: by Semantic Versioning: 0.9.0, 0.10.0-rc.1, 0.10.0. What follows a + does not count.
is_older() {
  first=${1%%+*} second=${2%%+*}
  case $(order "${first%%[-~]*}" "${second%%[-~]*}" 0) in
    '<') return 0 ;;
    '>') return 1 ;;
  esac
  # A preliminary version precedes its final one.
  case $first in *[-~]*) first=${first#*[-~]} ;; *) return 1 ;; esac
  case $second in *[-~]*) second=${second#*[-~]} ;; *) return 0 ;; esac
  [ "$(order "$first" "$second" '')" = '<' ]
}

# number_of TEXT: prints the version in `cardmark 0.1.0 (...)`; nothing if there is none.
number_of() {
  number=${1#cardmark }
  number=${number%% *}
  case $number in
    [0-9]*) case $number in *[!0-9A-Za-z.+~-]*) ;; *) say "$number" ;; esac ;;
  esac
}

# Ends if the release is older than the installed version: an attacker could offer an old release with known errors.
refuse_older() {
  [ -f "$prefix/$LIST" ] || return 0
  installed=
  if [ -f "$prefix/$VERSION" ]; then IFS= read -r installed <"$prefix/$VERSION" || :; fi
  installed=$(number_of "$installed") offered=$(number_of "$version")
  if [ -z "$installed" ] || [ -z "$offered" ]; then
    say "the installed version is unknown: $prefix/$VERSION"
  elif is_older "$offered" "$installed"; then
    [ "$older" = allowed ] || fail "$BASE has version $offered, but $installed is installed" \
      'Use --allow-older to install the older version.'
    say "version $offered replaces $installed, which is newer"
  fi
}

# check_path PATH: ends unless the list of installed files may have that path: this script installs such a file, and no
# link leads out of the prefix.
check_path() {
  case $1 in
    *..* | *//* | */ | */./*) bad_path "$1" ;;
    bin/cardmark | share/man/man1/cardmark*.1 | share/doc/cardmark/* | share/bash-completion/completions/cardmark | \
      share/zsh/site-functions/_cardmark | share/fish/vendor_completions.d/cardmark.fish) ;;
    *) bad_path "$1" ;;
  esac
  [ -d "$prefix/${1%/*}" ] || return 0
  top=$(cd "$prefix" && pwd -P) real=$(cd "$prefix/${1%/*}" && pwd -P) || bad_path "$1"
  case $real/ in "${top%/}"/*) ;; *) bad_path "$1" ;; esac
  refuse_folder "$1"
}

bad_path() {
  fail "$prefix/$LIST has a path that this script does not remove: $1" \
    'It is not of an installation into this folder. Nothing was removed; look at the list, then edit it.'
}

# refuse_folder PATH: ends if a folder is in the place of a file.
refuse_folder() {
  if [ -d "$prefix/$1" ] && [ ! -L "$prefix/$1" ]; then
    fail "$prefix/$1 is a folder" 'Move it away, or use --prefix FOLDER.'
  fi
}

# read_list: copies the list of installed files, after checking each path; an empty one if nothing is installed.
read_list() {
  : >"$temporary/earlier"
  [ -f "$prefix/$LIST" ] || return 0
  cp "$prefix/$LIST" "$temporary/listed"
  while IFS= read -r path || [ -n "$path" ]; do
    check_path "$path"
    printf '%s\n' "$path" >>"$temporary/earlier"
  done <"$temporary/listed"
}

# place SOURCE PATH MODE: copies a file to where it waits until all are there.
place() {
  [ -f "$1" ] || return 0
  make_folder "${2%/*}"
  refuse_folder "$2"
  message=$({ cp "$1" "$stage/$count" && chmod "$3" "$stage/$count"; } 2>&1) ||
    fail "cannot write to $prefix" "$message"
  printf '%s\n' "$2" >>"$temporary/installed"
  count=$((count + 1))
}

place_all() {
  count=0
  place "$unpacked/cardmark" bin/cardmark 755
  for page in "$unpacked"/man/*.1; do place "$page" "share/man/man1/${page##*/}" 644; done
  place "$unpacked/completions/cardmark.bash" share/bash-completion/completions/cardmark 644
  place "$unpacked/completions/_cardmark" share/zsh/site-functions/_cardmark 644
  place "$unpacked/completions/cardmark.fish" share/fish/vendor_completions.d/cardmark.fish 644
  for text in "$unpacked"/*; do
    [ "$text" = "$unpacked/cardmark" ] || place "$text" "share/doc/cardmark/${text##*/}" 644
  done
  printf '%s\n' "$version" >"$temporary/version"
  place "$temporary/version" "$VERSION" 644
  printf '%s\n' "$LIST" >>"$temporary/installed"
  make_folder "${LIST%/*}"
  refuse_folder "$LIST"
  message=$(cp "$temporary/installed" "$stage/$count" 2>&1) || fail "cannot write to $prefix" "$message"
}

# Renames all files, which needs no space, and removes those that only an earlier version had.
finish() {
  count=0
  while IFS= read -r path; do
    # -T: a link to a folder is replaced, not followed.
    mv -fT "$stage/$count" "$prefix/$path"
    count=$((count + 1))
  done <"$temporary/installed"
  while IFS= read -r path; do
    grep -qxF -- "$path" "$temporary/installed" || rm -f "$prefix/$path"
  done <"$temporary/earlier"
  made=
}

install() {
  installing=yes
  target=$(target)
  [ -n "$BASE" ] || fail 'cardmark has no release yet' \
    'Make the file on a Linux PC, as "Install" in README.md shows, and copy it to this computer:' \
    "  cargo xtask dist --target $(name_of "$target")"
  [ -n "$KEY" ] || fail 'no public key to verify the release with' 'Give it: --key KEY'
  temporary=$(mktemp -d) || fail 'cannot make a temporary folder' 'TMPDIR=FOLDER sets another folder.'
  fetch SHA256SUMS
  fetch SHA256SUMS.minisig
  verify_signature
  archive=$(sed -n "s/^[0-9a-f]\{64\}  \(cardmark-[0-9][0-9A-Za-z.+~-]*-$target\.tar\.xz\)\$/\1/p" "$temporary/SHA256SUMS")
  case $archive in
    '' | *"
"*) fail "the release has no file, or several, for $target" ;;
  esac
  fetch "$archive"
  verify_checksum "$archive"
  say "$archive: signature and checksum are right"
  unpack "$archive"
  existing=$prefix
  while [ ! -d "$existing" ]; do existing=$(dirname "$existing"); done
  message=$(mkdir -p "$prefix" 2>&1) || fail "cannot make $prefix" "$message"
  message=$(mktemp -d "$prefix/.cardmark.XXXXXX" 2>&1) ||
    fail "cannot write to $prefix" "$message" 'Use --prefix FOLDER, or run the script as root.'
  stage=$message
  read_list
  refuse_older
  place_all
  finish
  say "installed $version"
  say "  $prefix/bin/cardmark"
  say "  man pages, completions and licences below $prefix/share"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) say "$prefix/bin is not in PATH; start the program as $prefix/bin/cardmark, or log in again" ;;
  esac
  say "to remove it: sh install.sh --uninstall --prefix $prefix"
}

uninstall() {
  [ -f "$prefix/$LIST" ] || fail "this script installed nothing in $prefix" \
    'Another folder: --prefix FOLDER. A Debian package: apt remove cardmark'
  temporary=$(mktemp -d) || fail 'cannot make a temporary folder' 'TMPDIR=FOLDER sets another folder.'
  read_list
  while IFS= read -r path; do
    rm -f "$prefix/$path"
    say "removed $prefix/$path"
    # Folders that have become empty, but not the prefix.
    while case $path in */*) path=${path%/*} ;; *) false ;; esac; do
      rmdir "$prefix/$path" 2>/dev/null || break
    done
  done <"$temporary/earlier"
  say 'Results are kept, in ~/.local/share/cardmark of each user.'
}

main() {
  LIST=share/doc/cardmark/installed-files VERSION=share/doc/cardmark/version
  older=refused installing=no temporary='' stage='' made='' existing='' action=install
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:-}/.local; fi
  while [ $# -gt 0 ]; do
    case $1 in
      --prefix | --from | --key)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in
          --prefix) prefix=$2 ;;
          --from) BASE=${2%/} ;;
          --key) KEY=$2 ;;
        esac
        shift ;;
      --allow-older) older=allowed ;;
      --uninstall) action=uninstall ;;
      --help | -h) usage; exit 0 ;;
      *) usage >&2; fail "unknown option $1" ;;
    esac
    shift
  done
  case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  "$action"
}

# In the last line, so that half a script does nothing.
main "$@"
