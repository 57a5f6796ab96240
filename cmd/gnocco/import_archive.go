package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/internal/client"
)

func newImportArchive() *cobra.Command {
	var remote remoteFlags
	cmd := &cobra.Command{
		Use:   "archive FILE",
		Short: "Put the archives of an export into a server",
		Long: `Put the archives that gnocco export archive wrote into a server; - means standard input. Needs the
role admin.

The command creates what the server lacks: archive policies and their rules, types of resources,
resources and metrics, which belong to the user who imports. A metric gets all of its archive, to the
bit, and goes on as the exported one would. One that has other measures is refused, as is an archive
policy of the same name with another definition. After an interruption run the command again.`,
		Example: `  gnocco export archive --url http://old:8041 | gnocco import archive --url http://new:8041 -`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := remote.client()
			if err != nil {
				return err
			}
			source := cmd.InOrStdin()
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer file.Close()
				source = file
			}
			return importArchives(cmd.Context(), c, source, cmd.ErrOrStderr())
		},
	}
	remote.define(cmd.Flags(), defaultURL, "address of the server, with its prefix if it has one")
	return cmd
}

// archivesAtOnce is how many metrics are imported at once.
const archivesAtOnce = 8

// archiveImport puts archives into a server.
type archiveImport struct {
	client *client.Client
	new    atomic.Int64 // metrics that got anything
	all    atomic.Int64
}

func importArchives(ctx context.Context, c *client.Client, source io.Reader, report io.Writer) (err error) {
	i := &archiveImport{client: c}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(archivesAtOnce)
	var metric *archivedMetric
	var parts [][]byte
	send := func() {
		if metric != nil {
			m, p := metric, parts
			work.Go(func() error { return i.metric(ctx, m, p) })
		}
		metric, parts = nil, nil
	}
	lines := json.NewDecoder(bufio.NewReaderSize(source, 1<<20))
	for err == nil {
		var line archiveLine
		if err = lines.Decode(&line); err != nil {
			break
		}
		if line.Content != nil {
			parts = append(parts, line.Content)
			continue
		}
		if send(); line.Metric != nil {
			metric = line.Metric
			continue
		}
		err = i.before(ctx, &line)
	}
	if errors.Is(err, io.EOF) {
		err = nil
		send()
	}
	if failed := work.Wait(); failed != nil {
		err = failed // it ends what is sent meanwhile
	}
	fmt.Fprintf(report, "%d metrics are there, %d of them new or completed\n", i.all.Load(), i.new.Load())
	return err
}

// before creates what metrics need.
func (i *archiveImport) before(ctx context.Context, line *archiveLine) error {
	create := func(path string, body any) error {
		err := i.client.Do(ctx, http.MethodPost, path, body, nil)
		if client.HasStatus(err, http.StatusConflict) {
			return nil
		}
		return err
	}
	switch {
	case line.Policy != nil:
		return i.policy(ctx, line.Policy)
	case line.Rule != nil:
		return create("/v1/archive_policy_rule", line.Rule)
	case line.Type != nil:
		return create("/v1/resource_type", line.Type)
	case line.Resource != nil:
		kind, _ := line.Resource["type"].(string)
		delete(line.Resource, "type")
		return create("/v1/resource/"+url.PathEscape(kind), line.Resource)
	}
	return errors.New("the file is no export of archives")
}

// policy creates an archive policy, or compares it with the one that is there.
func (i *archiveImport) policy(ctx context.Context, p *client.ArchivePolicy) error {
	if err := i.client.EnsureArchivePolicy(ctx, p.Name, p); err != nil {
		return err
	}
	there, err := i.client.ArchivePolicy(ctx, p.Name)
	if err != nil {
		return err
	}
	slices.Sort(there.Methods)
	slices.Sort(p.Methods)
	if !reflect.DeepEqual(there, p) {
		return fmt.Errorf("archive policy %s has another definition on the server than in the file", p.Name)
	}
	return nil
}

// metric puts the archive of one metric.
func (i *archiveImport) metric(ctx context.Context, m *archivedMetric, parts [][]byte) error {
	put := i.putAlone
	if m.Labels != nil || m.Resource != "" {
		put = i.putNamed
	}
	written, err := put(ctx, m, parts)
	if err != nil {
		return fmt.Errorf("%s: %w", m, err)
	}
	if i.all.Add(1); written {
		i.new.Add(1)
	}
	return nil
}

// putNamed puts an archive into the metric of that name of a resource, or with those labels.
func (i *archiveImport) putNamed(ctx context.Context, m *archivedMetric, parts [][]byte) (written bool, err error) {
	var found *client.Metric
	if m.Labels != nil {
		found, _, err = i.client.EnsureSeries(ctx, m.Labels, m.NewMetric)
	} else {
		found, err = i.client.EnsureNamed(ctx, m.Resource, m.Name, m.NewMetric)
	}
	if err == nil && found.ArchivePolicy.Name != m.ArchivePolicy {
		err = fmt.Errorf("its archive policy is %s on the server, and %s in the file", found.ArchivePolicy.Name,
			m.ArchivePolicy)
	}
	if err != nil {
		return false, err
	}
	return i.client.PutArchiveContent(ctx, found.ID, parts)
}

// putAlone puts an archive into a metric without resource, the one of that name that takes it, or a new one. A metric
// without a name is always new.
func (i *archiveImport) putAlone(ctx context.Context, m *archivedMetric, parts [][]byte) (written bool, err error) {
	var there []struct {
		client.Metric
		Resource *string `json:"resource_id"`
	}
	if m.Name != "" {
		query := url.Values{"name": {m.Name}, "archive_policy_name": {m.ArchivePolicy}}
		if err := i.client.Do(ctx, http.MethodGet, "/v1/metric?"+query.Encode(), nil, &there); err != nil {
			return false, err
		}
	}
	for _, one := range there {
		if one.Resource != nil || one.Labels != nil {
			continue
		}
		written, err := i.client.PutArchiveContent(ctx, one.ID, parts)
		if written || !client.HasStatus(err, http.StatusBadRequest) {
			return written, err
		}
	}
	var created struct {
		ID string `json:"id"`
	}
	if err := i.client.Do(ctx, http.MethodPost, "/v1/metric", m, &created); err != nil {
		return false, err
	}
	return i.client.PutArchiveContent(ctx, created.ID, parts)
}

// String returns the metric as people name it.
func (m *archivedMetric) String() string {
	switch {
	case m.Labels != nil:
		return seriesText(m.Labels)
	case m.Resource != "":
		return m.Resource + "/" + m.Name
	}
	return m.Name
}
