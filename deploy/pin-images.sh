#!/bin/sh
# Adds to the images in .env the digests of what their registries have today: postgres:18 becomes postgres:18@sha256:….
# Afterwards the same bytes are fetched, wherever the tag points to. Run it again before an upgrade.
# Usage: deploy/pin-images.sh [FILE]. Without FILE it is .env.
set -eu
file=${1:-.env}
pinned=$(mktemp)
trap 'rm -f "$pinned"' EXIT
fail() {
  echo "$1: $file is as it was" >&2
  exit 1
}
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    [A-Z]*_IMAGE=?*)
      image=${line#*=}
      image=${image%%@*}
      # A colon before the last slash is that of a port.
      case ${image##*/} in
        *:*) ;;
        *) fail "$image has no tag" ;;
      esac
      said=$(docker pull "$image" < /dev/null)
      digest=$(printf '%s\n' "$said" | sed -n 's/^Digest: //p')
      [ -n "$digest" ] || fail "docker pull says no digest of $image"
      line="${line%%=*}=$image@$digest"
      echo "$line"
      ;;
  esac
  printf '%s\n' "$line" >> "$pinned"
done < "$file"
# Not moved: the file keeps its owner and its mode. The former one stays until the new one is there.
cp -p "$file" "$file.before"
cat "$pinned" > "$file"
rm "$file.before"
