package main

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// userID is gnocco's in the image, and the one that packages ask for.
const userID = 8041

// imageFiles returns an image's files.
func imageFiles(program []byte, common map[string][]byte) []file {
	files := []file{
		{path: "usr/bin/gnocco", content: program, mode: 0o755},
		{path: "etc/passwd", content: []byte("gnocco:x:8041:8041::/var/lib/gnocco:/sbin/nologin\n"), mode: 0o644},
		{path: "etc/group", content: []byte("gnocco:x:8041:\n"), mode: 0o644},
		{path: "etc/ssl/certs/ca-certificates.crt", content: authorities(), mode: 0o644},
		{path: "var/lib/gnocco/", mode: 0o750, user: userID},
		{path: "tmp/", mode: 0o1777},
		{path: "usr/share/doc/gnocco/LICENSE", content: common["doc/LICENSE"], mode: 0o644},
		{path: "usr/share/doc/gnocco/LICENSES-of-others", content: common["doc/LICENSES-of-others"], mode: 0o644},
	}
	return append(files, programLinks("usr/bin")...)
}

// writeImage writes an OCI image layout with an image for each processor.
func writeImage(dir, version string, at time.Time, arches map[string][]file) error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arch := range slices.Sorted(maps.Keys(arches)) {
		var content bytes.Buffer
		if err := writeTar(&content, at, arches[arch]); err != nil {
			return err
		}
		packed := compressed(content.Bytes()) // once: a layer of plain bytes compresses them for each look
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(packed)), nil
		},
			tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return err
		}
		base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		history := v1.History{Created: v1.Time{Time: at}, CreatedBy: "gnocco's tools/dist"}
		image, err := mutate.Append(base, mutate.Addendum{Layer: layer, History: history})
		if err != nil {
			return err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		config = config.DeepCopy()
		config.OS, config.Architecture, config.Created = "linux", arch, v1.Time{Time: at}
		config.Config = v1.Config{
			User: "8041:8041", Entrypoint: []string{"/usr/bin/gnocco"}, Cmd: []string{"serve", "--listen", ":8041"},
			Env: []string{"PATH=/usr/bin", "GNOCCO_DATA=/var/lib/gnocco"}, WorkingDir: "/var/lib/gnocco",
			StopSignal:   "SIGTERM",
			Volumes:      map[string]struct{}{"/var/lib/gnocco": {}},
			ExposedPorts: map[string]struct{}{"8041/tcp": {}, "8042/tcp": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title":    "gnocco",
				"org.opencontainers.image.version":  version,
				"org.opencontainers.image.licenses": "Apache-2.0",
			},
		}
		if image, err = mutate.ConfigFile(image, config); err != nil {
			return err
		}
		platform := &v1.Platform{OS: "linux", Architecture: arch}
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: platform}})
	}
	_, err := layout.Write(dir, index)
	return err
}
