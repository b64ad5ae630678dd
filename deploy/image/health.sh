#!/bin/bash
# The health check of an image: what /readyz of the service says, and 1 when that is not 200. In bash, since every container
# runs it every ten seconds: a Node that starts, asks and ends takes thirty times the CPU.
within_seconds=2

if [[ -z $PORT ]]; then
  echo 'it serves nobody'
  exit 0
fi
exec 3<>"/dev/tcp/127.0.0.1/$PORT" || exit 1
# By HTTP/1.0 the answer ends with the connection.
printf 'GET /readyz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
IFS= read -r -d '' -t "$within_seconds" answer <&3
# What `read` returns when its time is over.
if (($? > 128)); then
  echo "no answer within $within_seconds s"
  exit 1
fi
if [[ $answer != *$'\r\n\r\n'* ]]; then
  echo 'the connection was closed before the answer was whole'
  exit 1
fi
printf '%s\n' "${answer#*$'\r\n\r\n'}"
[[ $answer == HTTP/1.?' 200 '* ]]
