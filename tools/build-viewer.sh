#!/usr/bin/env bash
# Make the files of api/viewer/swagger-ui from the npm package swagger-ui-dist: its bundle and style sheet compressed, its licence as
# it is, and the checksums of all, uncompressed, which a test compares. Needs npm, and the network or npm's cache.
#
#   build-viewer.sh [VERSION]     default: the version that is there
set -euo pipefail
cd "$(dirname "$0")/../api/viewer/swagger-ui"
version=${1:-$(cat VERSION)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work" "swagger-ui-dist@$version" >/dev/null # npm holds it to the registry's checksum
tar -xzf "$work/swagger-ui-dist-$version.tgz" -C "$work"
rm -f -- *
echo "$version" >VERSION
for file in swagger-ui-bundle.js swagger-ui.css swagger-ui-bundle.js.LICENSE.txt LICENSE NOTICE; do
    (cd "$work/package" && sha256sum "$file") >>SHA256SUMS
    case $file in
        *.js | *.css) gzip -9n <"$work/package/$file" >"$file.gz" ;;
        *) cp "$work/package/$file" "$file" ;;
    esac
done
