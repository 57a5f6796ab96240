package fsck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cmd/shared/offline"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// giveUpSack accepts the loss of a sack's store: the readable part of its newest epoch that opens becomes its store, or
// an empty one does.
func (c *check) giveUpSack(ctx context.Context, number int, reason error) error {
	name := sackName(number)
	epochs, err := epochFolders(filepath.Join(c.data.Path, name))
	if err != nil {
		return err
	}
	kept := "nothing of it could be read"
	aside, err := c.replace(ctx, name, func(ctx context.Context, to string) error {
		if i := slices.IndexFunc(epochs, func(dir string) bool { return opens(dir, c.sackOf(number)) }); i >= 0 {
			kept = "what could be read of " + filepath.Base(epochs[i]) + " is kept"
			return c.copyReadable(ctx, epochs[i], to, number)
		}
		empty, err := archive.Open(to, archive.Options{})
		if err != nil {
			return err
		}
		return empty.Close()
	})
	if err != nil {
		return err
	}
	lost, err := c.lostOfSack(number)
	if err != nil {
		return err
	}
	c.givenUp(name, reason, kept, aside, lost)
	return nil
}

// opens reports whether the store of a sack can be opened, and is not another sack's.
func opens(dir string, sack archive.Sack) bool {
	store, err := archive.Open(dir, archive.Options{ReadOnly: true, Unchecked: true, Sack: sack})
	if err != nil {
		return false
	}
	_ = store.Close() // it may be damaged
	return true
}

// givenUp notes that the loss of a store was accepted.
func (c *check) givenUp(name string, reason error, kept, aside string, lost []string) {
	what := kept
	if reason != nil {
		what = oneLine(reason) + "; " + kept
	}
	if aside != "" {
		what += "; the damaged store stays as " + aside
	}
	c.add(Finding{Store: name, Damage: true, Refused: true, GivenUp: true, Repaired: true, What: what, Lost: lost})
	for i := range c.report.Findings {
		if f := &c.report.Findings[i]; f.Store == name && f.Damage {
			f.Repaired = true // it lay in the store that was given up
		}
	}
}

// lostOfSack says what is left of the metrics of a sack that was given up, one line each.
func (c *check) lostOfSack(number int) ([]string, error) {
	if c.known == nil {
		return []string{"which metrics it held cannot be said: the index cannot be read"}, nil
	}
	var lines []string
	gone := 0
	err := c.data.InSack(number, func(store *archive.Store) error {
		for _, id := range c.bySack[number] {
			end, err := store.RawEnd(id)
			if err != nil {
				return err
			}
			var line strings.Builder
			fmt.Fprintf(&line, "metric %s", id)
			if name := c.name(id); name != "" {
				fmt.Fprintf(&line, " (%s)", name)
			}
			if end.Any {
				fmt.Fprintf(&line, ": kept up to %s, if there was more it is lost", stamp(end.Newest))
			} else {
				gone++
				line.WriteString(": all of its aggregates are lost")
			}
			if w := c.waiting[id]; w != nil {
				fmt.Fprintf(&line,
					"; in incoming stores, and processed at the next start: %s from %s to %s", counted.Of(w.measures, "measure"),
					stamp(w.from), stamp(w.to))
			}
			lines = append(lines, line.String())
		}
		return nil
	})
	head := fmt.Sprintf("it has %s of the index; of %d nothing is left", counted.Of(len(c.bySack[number]), "metric"), gone)
	return append([]string{head}, lines...), err
}

// giveUpIncoming accepts the loss of an incoming store: measures that were acknowledged, and perhaps are in no archive
// yet. Its readable part replaces it. If its identity cannot be read, there is no telling which of its measures the
// archives have: then it is moved out of the way.
func (c *check) giveUpIncoming(ctx context.Context, name string, reason error, found map[uuid.UUID]*waiting) error {
	from, _, err := claim.Current(vfs.Default, filepath.Join(c.data.Path, name))
	if err != nil {
		return err
	}
	lost := "lost: measures that it held and no checkpoint had yet"
	if from != "" {
		aside, err := c.replace(ctx, name, func(_ context.Context, to string) error {
			return incoming.Salvage(from, to)
		})
		if err == nil {
			c.givenUp(name, reason, "what could be read of it is kept", aside,
				append([]string{lost + "; those that could be read are processed at the next start:"},
					linesOf(found)...))
			return nil
		}
		if ctx.Err() != nil || fulldisk.Is(err) {
			return err
		}
	}
	aside, err := c.moveAside(name)
	if err != nil {
		return err
	}
	lines := append([]string{lost + "; those that could be read may be sent again:"}, linesOf(found)...)
	if len(found) == 0 {
		lines = []string{lost + "; they cannot be read"}
	}
	c.givenUp(name, reason, "its measures are not processed any more", aside, lines)
	return nil
}

// linesOf lists measures by metric.
func linesOf(found map[uuid.UUID]*waiting) (lines []string) {
	for _, id := range slices.SortedFunc(maps.Keys(found), model.CompareIDs) {
		w := found[id]
		lines = append(lines, fmt.Sprintf("metric %s: %s from %s to %s", id, counted.Of(w.measures, "measure"),
			stamp(w.from), stamp(w.to)))
	}
	return lines
}

// moveAside moves an incoming store out of the way of servers, which adopt, drain and remove what lies below incoming.
func (c *check) moveAside(name string) (aside string, err error) {
	parent := filepath.Join(c.data.Path, damagedFolder)
	if err := claim.MakeFolders(vfs.Default, c.data.Path, parent); err != nil {
		return "", err
	}
	base := filepath.Join(c.data.Path, name)
	if _, err := os.Lstat(base); err == nil {
		aside = freeName(filepath.Join(parent, strings.ReplaceAll(name, "/", "-")))
		if err := os.Rename(base, aside); err != nil {
			return "", err
		}
	}
	return aside, errors.Join(claim.SyncFolder(vfs.Default, parent), claim.SyncFolder(vfs.Default, filepath.Dir(base)),
		claim.Forget(vfs.Default, c.data.Path, name))
}

// damagedFolder keeps incoming stores that were given up. Stores below incoming are drained and removed.
const damagedFolder = "damaged"

// The cost of doing without the index.
const indexCost = "without it no archive has a name: all metrics, resources and archive policies would be gone, " +
	"and with them every aggregate, so there is no giving up: restore the folders index and claims/index from a backup, " +
	"or begin a new data folder"

const indexAdvice = "--repair --give-up index accepts what can be read of it: metrics, resources and policies " +
	"that were written last may be missing, and the aggregates of such metrics cannot be read any more; " +
	"a backup of the folders index and claims/index is better"

// refuseIndex notes that the index cannot be opened.
func (c *check) refuseIndex(reason error) {
	c.add(Finding{
		Store: "index", Damage: true, Refused: true,
		What: "cannot be opened: " + oneLine(reason), Lost: []string{indexCost},
	})
}

// acceptIndex is about an index that opens, but is not all that it was. With its loss accepted, it stays as it can be
// read.
func (c *check) acceptIndex(ctx context.Context, dir string, reason error) error {
	if !c.options.givesUp("index") {
		c.add(Finding{
			Store: "index", Damage: true, Refused: true,
			What: "a server does without it: " + oneLine(reason), Lost: []string{indexAdvice},
		})
		return nil
	}
	aside, err := c.replace(ctx, "index", func(_ context.Context, to string) error {
		return offline.CopyStore(dir, to)
	})
	if err != nil {
		return err
	}
	c.givenUp("index", reason, "what could be read of it is kept", aside, []string{
		"metrics that it does not know any more are told of below, as archives that the index does not account for"})
	return nil
}
