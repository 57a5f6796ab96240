package engine

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
)

// FastCompression is for stores whose content is soon deleted, or read here and there.
var FastCompression = pebble.UniformDBCompressionSettings(block.SnappyCompression)

// defaultCompression compresses often rewritten tables quickly, and tables at rest well. On splits zstd takes half the
// bytes of Snappy.
var defaultCompression = func() pebble.DBCompressionSettings {
	settings := pebble.UniformDBCompressionSettings(block.SnappyCompression)
	settings.Name = "snappy-zstd"
	settings.Levels[len(settings.Levels)-1] = block.GoodCompression
	return settings
}()
