#!/bin/bash
# As with the official image, flags alone mean redis-server, and it takes connections from other machines.
set -eu
case "${1:-}" in -* | '') set -- redis-server "$@" ;; esac
[ "$1" != redis-server ] || set -- "$@" --protected-mode no
exec "$@"
