#!/usr/bin/env bash
# Sign what `make dist` made, and lay its packages out as an apt repository in DIST/apt.
#
#   tools/release.sh KEY [DIST]    KEY: ID or address of a secret key of gpg; DIST: dist
set -euo pipefail
key=${1:?the ID of a secret key of gpg}
dist=$(realpath "${2:-dist}")
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
sign() { gpg --batch --yes --local-user "$key" "$@"; }
sign --armor --detach-sign --output "$dist/SHA256SUMS.asc" "$dist/SHA256SUMS"
rm -rf "$dist/apt"
mkdir -p "$dist/apt/pool/main"
cp "$dist"/*.deb "$dist/apt/pool/main"
cd "$dist/apt"
for arch in amd64 arm64; do
    mkdir -p "dists/stable/main/binary-$arch"
    apt-ftparchive --arch "$arch" packages pool/main >"dists/stable/main/binary-$arch/Packages"
    gzip -9nk "dists/stable/main/binary-$arch/Packages"
done
apt-ftparchive -o APT::FTPArchive::Release::Origin=Gnocco -o APT::FTPArchive::Release::Suite=stable \
    -o APT::FTPArchive::Release::Codename=stable -o APT::FTPArchive::Release::Components=main \
    -o "APT::FTPArchive::Release::Architectures=amd64 arm64" release dists/stable >Release
mv Release dists/stable/Release
sign --clearsign --output dists/stable/InRelease dists/stable/Release
gpg --batch --export "$key" >gnocco-archive-keyring.gpg
