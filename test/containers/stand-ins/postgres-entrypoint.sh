#!/bin/bash
# Of the official image's contract what suites and compose files use.
set -eu
: "${POSTGRES_USER:=postgres}" "${POSTGRES_PASSWORD:=postgres}" "${POSTGRES_DB:=$POSTGRES_USER}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  umask 077
  password=$(mktemp)
  printf %s "$POSTGRES_PASSWORD" > "$password"
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$password" --auth=scram-sha-256 -E UTF8 --locale=C ${POSTGRES_INITDB_ARGS:-}
  rm "$password"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  if [ "$POSTGRES_DB" != postgres ]; then
    echo "create database \"$POSTGRES_DB\"" | postgres --single -D "$PGDATA" postgres > /dev/null
  fi
fi
[ "${1:-postgres}" != postgres ] || shift || true
exec postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"
