#!/bin/sh
# Adds to the images in .env the digests of what their registries have today: postgres:18 becomes postgres:18@sha256:….
# Afterwards the same bytes are fetched, wherever the tag points to. Run it again before an upgrade.
# Usage: deploy/pin-images.sh [FILE]. Without FILE it is .env.
set -eu
file=${1:-.env}
pinned=$(mktemp)
trap 'rm -f "$pinned"' EXIT
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    [A-Z]*_IMAGE=?*)
      image=${line#*=}
      image=${image%%@*}
      said=$(docker pull "$image" < /dev/null)
      digest=$(printf '%s\n' "$said" | sed -n 's/^Digest: //p')
      if [ -z "$digest" ]; then
        echo "docker pull says no digest of $image: $file is as it was" >&2
        exit 1
      fi
      line="${line%%=*}=$image@$digest"
      echo "$line"
      ;;
  esac
  printf '%s\n' "$line" >> "$pinned"
done < "$file"
# Not moved: the file keeps its owner and its mode.
cat "$pinned" > "$file"
