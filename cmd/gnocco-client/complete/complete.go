package complete

import (
	"context"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/internal/client"
)

const (
	completionTime = 2 * time.Second // after which a shell gets no proposals
	mostProposals  = "200"
)

// completion proposes values that begin like a text.
type completion func(ctx context.Context, c *client.Client, begun string) []string

// Ask makes a completion of cobra's from one that asks the server. Without an answer there are no proposals.
func Ask(server *remote.Flags, propose completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		ctx, stop := context.WithTimeout(cmd.Context(), completionTime)
		defer stop()
		if commandline.ApplySettings(cmd, nil) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := server.Client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return propose(ctx, c, begun), cobra.ShellCompDirectiveNoFileComp
	}
}

// FirstOf proposes words for the first argument, and leaves the others to next.
func FirstOf(words []string, next cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return next(cmd, args, begun)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// Selectors proposes names of metrics, and those of resources with a metric.
func Selectors(ctx context.Context, c *client.Client, begun string) []string {
	resource, _, slash := strings.Cut(begun, "/")
	matches := []string{`{original_resource_id=` + quoted(resource) + `}`}
	if !slash {
		pattern := quoted(regexp.QuoteMeta(begun) + ".*")
		matches = []string{`{__name__=~` + pattern + `}`, `{original_resource_id=~` + pattern + `}`}
	}
	found := make(map[string]bool)
	for _, match := range matches {
		var answer struct {
			Data []map[string]string `json:"data"`
		}
		query := url.Values{"match[]": {match}, "ids": {"true"}, "limit": {mostProposals}}
		if c.Do(ctx, "GET", "/api/v1/series?"+query.Encode(), nil, &answer) != nil {
			continue
		}
		for _, labels := range answer.Data {
			s := series.FromLabels(labels)
			for _, name := range []string{s.String(), s.Name} {
				if strings.HasPrefix(name, begun) && !strings.ContainsAny(name, "{ \t") {
					found[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// proposeOf proposes texts that archive policies have.
func proposeOf(texts func(p client.ArchivePolicy) []string) completion {
	return func(ctx context.Context, c *client.Client, begun string) []string {
		policies, _ := c.ArchivePolicies(ctx)
		found := make(map[string]bool)
		for _, p := range policies {
			for _, text := range texts(p) {
				found[text] = true
			}
		}
		maps.DeleteFunc(found, func(text string, _ bool) bool { return !strings.HasPrefix(text, begun) })
		return slices.Sorted(maps.Keys(found))
	}
}

// Flags proposes the server's values for those flags of a command that have some.
func Flags(cmd *cobra.Command, server *remote.Flags) {
	for name, texts := range map[string]func(client.ArchivePolicy) []string{
		"archive-policy": func(p client.ArchivePolicy) []string { return []string{p.Name} },
		"aggregation":    func(p client.ArchivePolicy) []string { return p.Methods }} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, Ask(server, proposeOf(texts))) // an error: it has one
		}
	}
}
