#!/bin/bash
# The health check of an image: what /readyz of the service says, and 1 when that is not 200. In bash, since every container
# runs it every ten seconds: a Node that starts, asks and ends takes thirty times the CPU.
within_seconds=2

# $1: what `read` returned, which is above 128 when its time was over.
unanswered() {
  if (($1 > 128)); then
    echo "no answer within $within_seconds s"
  else
    echo 'the connection was closed before the answer was whole'
  fi
  exit 1
}

if [[ -z $PORT ]]; then
  echo 'it serves nobody'
  exit 0
fi
exec 3<>"/dev/tcp/127.0.0.1/$PORT" || exit 1
printf 'GET /readyz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
IFS= read -r -t "$within_seconds" status <&3 || unanswered $?
# The headers end with an empty line, the body with the connection.
header=
until [[ $header == $'\r' ]]; do
  IFS= read -r -t "$within_seconds" header <&3 || unanswered $?
done
IFS= read -r -d '' -t "$within_seconds" body <&3
ended=$?
((ended <= 128)) || unanswered $ended
printf '%s\n' "$body"
[[ $status == HTTP/1.?' 200 '* ]]
