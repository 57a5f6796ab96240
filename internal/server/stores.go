package server

import (
	"context"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/prometheus/client_golang/prometheus"

	"gnocco/carbonara"
	"gnocco/metricd"
	"gnocco/storage/engine"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// stores are the open stores, and who works on them.
type stores struct {
	index    *index.Store
	incoming *incoming.Store
	metricd  *metricd.Metricd

	knownMetrics int // that the API may remember by name
}

// openStores opens the stores. What it has opened is closed with the server, also if it fails.
func (s *Server) openStores(folder *Folder, cluster Cluster, options *Options, registerer prometheus.Registerer) (_ *stores, err error) {
	node, err := folder.ensureNode()
	if err != nil {
		return nil, err
	}
	memory := divideMemory(options.MemoryBytes)
	cache := pebble.NewCache(memory.blocks)
	s.onClose("block cache", func() error { cache.Unref(); return nil })
	files := pebble.NewFileCache(fileCacheShards, openFiles)
	s.onClose("file cache", func() error { files.Unref(); return nil })

	collector := engine.NewCollector()
	registerer.MustRegister(collector)
	opened := &stores{knownMetrics: memory.known}
	opened.index, err = index.Open(folder.IndexDir(), index.Options{
		Cache: cache, FileCache: files, CachedMetrics: memory.lookups, SkipDefaults: options.SkipDefaultPolicies,
		Logger: options.Logger, Registerer: registerer, Collector: collector,
	})
	if err != nil {
		return nil, err
	}
	s.onClose("index", opened.index.Close)
	opened.incoming, err = incoming.Open(filepath.Join(folder.IncomingDir(), node), incoming.Options{
		Sacks: cluster.Sacks, TailBytes: memory.tail, MinFreeBytes: options.MinFreeBytes,
		Cache: cache, FileCache: files, Logger: options.Logger, Registerer: registerer, Collector: collector,
	})
	if err != nil {
		return nil, err
	}
	s.onClose("incoming", opened.incoming.Close)
	var resampler carbonara.Resampler
	if options.Resampler != nil {
		resampler = options.Resampler(registerer)
	}
	opened.metricd, err = metricd.New(metricd.Options{
		Resampler: resampler,
		Dir:       folder.SacksDir(), Sacks: cluster.Sacks, Workers: options.Workers,
		Index: opened.index, Incoming: opened.incoming,
		CheckpointInterval: options.CheckpointInterval, CheckpointBytes: memory.heads,
		Cache: cache, FileCache: files, Logger: options.Logger, Registerer: registerer, Collector: collector,
	})
	if err != nil {
		return nil, err
	}
	s.parts("metricd", func(ctx context.Context) error { return opened.metricd.Close(ctx) })
	return opened, nil
}
