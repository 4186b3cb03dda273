# shellcheck shell=bash
# Sourced by `run` and `read`: databases, and a site whose limits no load reaches.

# on_each SCRIPT [STORE…]: runs SCRIPT --inside STORE for each database.
on_each() {
  local script=$1 store
  shift
  [[ $# -gt 0 ]] || set -- sqlite postgres
  cargo build --quiet --profile site --locked -p cardmark-site --bin cardmark-site --examples
  for store in "$@"; do
    case $store in
      sqlite) bash "$script" --inside sqlite ;;
      postgres) scripts/postgres bash "$script" --inside postgres ;;
      *) echo "usage: $script [sqlite|postgres…]" >&2; return 2 ;;
    esac
  done
}

# begin STORE: a folder for everything; it and the site are gone at the end of the script.
begin() {
  store=$1 site=
  folder=$(mktemp -d "$PWD/target/site-load.XXXXXX")
  trap 'kill $site 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  cat >"$folder/config.toml" <<'CONFIG'
reads_at_once = 1000000
reads_per_s = 1000000
[writes]
of_address = 1000000000
of_address_per_hour = 1
of_tag = 1000000000
of_tag_per_hour = 1
new_submitters_per_day = 1000000000
CONFIG
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  export CARDMARK_SITE_CONFIG=$folder/config.toml CARDMARK_LISTEN=127.0.0.1:$port CARDMARK_LOG=error
}

# An empty database.
new_database() {
  case $store in
    sqlite)
      rm -f "$folder"/site.sqlite*
      CARDMARK_DATABASE_URL=sqlite:$folder/site.sqlite ;;
    postgres)
      psql --quiet "$CARDMARK_TEST_POSTGRES" -c 'drop database if exists load' -c 'create database load' 2>/dev/null
      CARDMARK_DATABASE_URL=$(python3 -c 'import sys, urllib.parse as u; print(u.urlunsplit(u.urlsplit(sys.argv[1])._replace(path="/load")))' "$CARDMARK_TEST_POSTGRES") ;;
  esac
  export CARDMARK_DATABASE_URL
}

database_bytes() {
  case $store in
    sqlite) stat -c %s "$folder/site.sqlite" ;;
    postgres) psql -At "$CARDMARK_DATABASE_URL" -c 'select pg_database_size(current_database())' ;;
  esac
}

# rows SELECT: the rows that a statement finds.
rows() {
  case $store in
    sqlite) python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$folder/site.sqlite" "$1" ;;
    postgres) psql -At "$CARDMARK_DATABASE_URL" -c "$1" ;;
  esac
}

start_site() {
  target/site/cardmark-site 2>"$folder/log" &
  site=$!
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
}

stop_site() {
  echo "$(awk '/VmHWM/{print $2 / 1024 " MiB"}' "/proc/$site/status") resident at most"
  kill "$site"
  wait "$site" || true
  site=
}

# load KIND RATE SECONDS [CONNECTIONS]
load() { target/site/examples/load "127.0.0.1:$port" "$@"; }
