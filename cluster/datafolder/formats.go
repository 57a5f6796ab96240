package datafolder

import (
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// FormatOf returns the format in which this program writes the store of a name.
func FormatOf(name string) claim.Format {
	f := claim.Format{Store: archive.FormatVersion, Pebble: int(engine.FormatVersion)}
	switch {
	case name == IndexName:
		f.Store = index.FormatVersion
	case strings.HasPrefix(name, IncomingPrefix):
		f.Store = incoming.FormatVersion
	}
	return f
}

// checkFormats returns a storage.ErrLaterFormat if any store was opened by a program that this one is too old to
// follow. It comes before anything in the folder changes.
func (f *Folder) checkFormats() error {
	names := []string{IndexName}
	for _, kind := range []string{IncomingPrefix, SacksPrefix} {
		known, err := claim.Known(vfs.Default, f.Path, strings.TrimSuffix(kind, "/"))
		if err != nil {
			return err
		}
		names = append(names, known...)
	}
	for _, name := range names {
		if err := claim.CheckFormat(vfs.Default, f.Path, name, FormatOf(name)); err != nil {
			return err
		}
	}
	return nil
}
