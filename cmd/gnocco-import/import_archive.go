package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/imports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// importArchive puts the archives of a file into a server.
func importArchive(cmd *cobra.Command, o *imports.Options, files []string) error {
	c, err := o.Remote.Client()
	if err != nil {
		return err
	}
	source, name := cmd.InOrStdin(), "standard input"
	if files[0] != "-" {
		file, err := os.Open(files[0])
		if err != nil {
			return err
		}
		defer file.Close()
		source, name = file, files[0]
	}
	return importArchives(cmd.Context(), c, source, name, cmd.ErrOrStderr())
}

// archivesAtOnce is how many metrics are imported at once.
const archivesAtOnce = 8

// archiveImport puts archives into a server.
type archiveImport struct {
	client *requests.Client
	new    atomic.Int64 // metrics that got anything
	all    atomic.Int64

	alone   sync.Mutex                     // held while an archive goes into a metric without resource
	taken   map[string]bool                // IDs of such metrics that archives of this import are in
	unnamed map[[sha256.Size]byte][]string // without a name, there before, by policy and beginning of the archive
}

// importArchives puts the archives of an export into a server. Messages call the export name.
func importArchives(ctx context.Context, c *client.Client, source io.Reader, name string, report io.Writer) error {
	i := &archiveImport{client: requests.New(c), taken: make(map[string]bool)}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(archivesAtOnce)
	var metric archiveLine
	var parts [][]byte
	// send imports the metric before, unless it lacks contents.
	send := func() (whole bool) {
		m, p := metric.Metric, parts
		if whole = len(p) == metric.Parts; m != nil && whole {
			work.Go(func() error { return i.metric(ctx, m, p) })
		}
		return whole
	}
	lines := json.NewDecoder(bufio.NewReaderSize(source, 1<<20))
	number := 0
	var err error
	for err == nil {
		var line archiveLine
		number++
		if err = lines.Decode(&line); err != nil {
			break
		}
		switch {
		case line.Content != nil:
			parts = append(parts, line.Content)
		case !send():
			err = fmt.Errorf("%s has only %d of %s of content before it", metric.Metric, len(parts),
				counted.Of(metric.Parts, "line"))
		case line.Metric != nil:
			metric, parts = line, nil
		default:
			metric.Metric, metric.Parts, parts = nil, 0, nil
			err = i.before(ctx, &line)
		}
	}
	cut := err == io.ErrUnexpectedEOF // one of a server is wrapped
	if cut || err == io.EOF {
		whole := send()
		if err = nil; cut || !whole || metric.Left > 0 {
			err = errors.New("the export was cut here. The whole metrics before are imported. Import the whole export, or " +
				"the one that goes on from here: imported metrics stay as they are")
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: line %d: %w", name, number, err)
	}
	if failed := work.Wait(); failed != nil {
		err = failed // it ends what is sent meanwhile
	}
	fmt.Fprintf(report, "%s there, %d new or completed\n", counted.Of(i.all.Load(), "metric"), i.new.Load())
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

// putAlone puts an archive into a metric without resource, the one of that name that takes it, or a new one. Without a
// name it is one whose archive begins alike.
func (i *archiveImport) putAlone(ctx context.Context, m *archivedMetric, parts [][]byte) (written bool, err error) {
	i.alone.Lock()
	defer i.alone.Unlock()
	there, err := i.thereAlone(ctx, m, parts)
	if err != nil {
		return false, err
	}
	for _, id := range there {
		if i.taken[id] {
			continue
		}
		written, err := i.client.PutArchiveContent(ctx, id, parts)
		if written || !client.HasStatus(err, http.StatusBadRequest) {
			i.taken[id] = true
			return written, err
		}
	}
	var created struct {
		ID string `json:"id"`
	}
	if err := i.client.Do(ctx, http.MethodPost, "/v1/metric", m, &created); err != nil {
		return false, err
	}
	i.taken[created.ID] = true
	return i.client.PutArchiveContent(ctx, created.ID, parts)
}

// thereAlone returns the IDs of metrics that may have the archive of m, which has no resource.
func (i *archiveImport) thereAlone(ctx context.Context, m *archivedMetric, parts [][]byte) (ids []string, err error) {
	if m.Name != "" {
		var there []struct {
			client.Metric
			Resource *string `json:"resource_id"`
		}
		query := url.Values{"name": {m.Name}, "archive_policy_name": {m.ArchivePolicy}}
		err := i.client.Do(ctx, http.MethodGet, "/v1/metric?"+query.Encode(), nil, &there)
		for _, one := range there {
			if one.Resource == nil && one.Labels == nil {
				ids = append(ids, one.ID)
			}
		}
		return ids, err
	}
	begins := func(policy string, parts [][]byte) [sha256.Size]byte {
		return sha256.Sum256(append([]byte(policy+"\n"), parts[0]...))
	}
	if i.unnamed == nil {
		found, err := series.Matching(ctx, i.client.Client, `{metric_id=~".+",metric_name="",original_resource_id=""}`)
		if err != nil {
			return nil, err
		}
		unnamed := make(map[[sha256.Size]byte][]string)
		for _, s := range found {
			if s.String() != s.ID {
				continue
			}
			content, err := i.client.ArchiveContent(ctx, s.ID)
			if err != nil {
				return nil, err
			}
			key := begins(s.Policy, content)
			unnamed[key] = append(unnamed[key], s.ID)
		}
		i.unnamed = unnamed
	}
	return i.unnamed[begins(m.ArchivePolicy, parts)], nil
}

// String returns the metric as people name it.
func (m *archivedMetric) String() string {
	switch {
	case m.Labels != nil:
		return series.Text(m.Labels)
	case m.Resource != "":
		return m.Resource + "/" + m.Name
	}
	return m.Name
}
