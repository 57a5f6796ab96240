package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/storage/index"
)

// newUpgrade returns what makes the data folder. It stays as it is if it is there: a server brings what an older
// version wrote into the newest form by itself.
func newUpgrade(name string) *cobra.Command {
	g := newGnocchiProgram(name, "Make the data folder ready")
	var skipPolicies bool
	new(process.LogFlags).Define(g.Flags())
	f := g.Flags()
	f.String("data", "", "data folder (default: gnocco below [storage] file_basepath)")
	f.Int("sacks-number", 0, "number of sacks of a new data folder (default there: 16)")
	f.BoolVar(&skipPolicies, "skip-archive-policies-creation", false, "make no default archive policies")
	for _, part := range []string{"index", "storage", "incoming"} {
		f.Bool("skip-"+part, false, "ignored: the parts of a data folder are made together")
	}
	g.RunE = func(*cobra.Command, []string) error {
		_, values, logger, err := g.load()
		if err != nil {
			return err
		}
		sacks := 0
		if text, ok := g.given("sacks-number"); ok {
			if sacks, err = strconv.Atoi(text); err != nil {
				return fmt.Errorf("--sacks-number: %w", err)
			}
		}
		return ensureDataFolder(fmt.Sprint(values["data"]), sacks, skipPolicies, logger)
	}
	return g.Command
}

// ensureDataFolder makes the data folder, unless it is there. Its index comes first: a folder without cluster.json is
// none, so that a call that was killed is repeated.
func ensureDataFolder(data string, sacks int, skipPolicies bool, logger *slog.Logger) error {
	folder := &datafolder.Folder{Path: data}
	found, err := folder.ReadClusterFile()
	switch {
	case err == nil:
		logger.Info("the data folder is there; nothing to do", "data", data, "sacks", found.Sacks, "format", found.Format)
		if sacks != 0 && sacks != found.Sacks {
			logger.Warn("the number of sacks stays; gnocco sacks changes it", "data", data, "sacks", found.Sacks,
				"wanted", sacks)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if folder, err = datafolder.Share(data); err != nil {
		return err
	}
	store, err := index.Open(filepath.Join(folder.IndexDir(), "e1"), index.Options{SkipDefaults: skipPolicies})
	if err == nil {
		err = store.Close()
	}
	if err := errors.Join(err, folder.Release()); err != nil {
		return err
	}
	made, _, err := datafolder.Init(data, datafolder.Terms{Sacks: sacks, Coordination: datafolder.CoordinationFile})
	if err != nil {
		return err
	}
	logger.Info("data folder made", "data", data, "sacks", made.Sacks, "format", made.Format,
		"default_policies", !skipPolicies)
	return nil
}
