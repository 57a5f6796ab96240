package index

import "github.com/cockroachdb/pebble/v2"

func openPebble(dir string, opts Options) (*pebble.DB, error) {
	return pebble.Open(dir, &pebble.Options{FS: opts.FS, Cache: opts.Cache, FileCache: opts.FileCache,
		FormatMajorVersion: pebble.FormatNewest})
}
