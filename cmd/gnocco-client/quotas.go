package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// usage is what a server says of a project.
type usage struct {
	Project  string      `json:"project"`
	Quota    model.Quota `json:"quota"`
	Series   int64       `json:"series"`
	Measures float64     `json:"measures_per_second"`
	Requests float64     `json:"requests_per_second"`
}

func newQuotas() *cobra.Command {
	var output string
	var reset bool
	bounds := map[string]int64{} // by the names of the API
	cmd := &cobra.Command{
		Use:   "quotas [PROJECT]",
		Short: "Show what projects use of their quotas, and change the quota of one",
		Long: `Show what projects use of their quotas: to admins of all projects or of one, to others of their own. The bounds
given by flags become the quota of PROJECT, -1 for none; a bound without a flag is that of the server.`,
		Example: `  gnocco quotas
  gnocco quotas web --series 10000 --measures 5000
  gnocco quotas web --reset`,
		Args: cobra.MaximumNArgs(1),
	}
	askServer(cmd, func(cmd *cobra.Command, c *client.Client, args []string) error {
		for flag, name := range map[string]string{"series": "series", "measures": "measures_per_second",
			"requests": "requests_per_second"} {
			if bound, _ := cmd.Flags().GetInt64(flag); cmd.Flags().Changed(flag) {
				bounds[name] = bound
			}
		}
		changes := len(bounds) > 0 || reset
		switch {
		case changes && len(args) == 0:
			return errors.New("name the project to change")
		case len(bounds) > 0 && reset:
			return errors.New("--reset gives the project the server's quota: leave out the bounds")
		}
		path := ""
		if len(args) > 0 {
			path = "/v1/quotas/" + url.PathEscape(args[0])
		}
		if reset {
			return c.Do(cmd.Context(), http.MethodDelete, path, nil, nil)
		}
		all, err := usages(cmd.Context(), c, path, bounds)
		if err != nil {
			return err
		}
		return usageTable(all).Write(cmd.OutOrStdout(), output)
	})
	flags := cmd.Flags()
	table.DefineOutput(flags, &output)
	flags.Int64("series", 0, "most metrics of the project (-1: any number)")
	flags.Int64("measures", 0, "most measures of the project in a second (-1: any number)")
	flags.Int64("requests", 0, "most requests of the project in a second (-1: any number)")
	flags.BoolVar(&reset, "reset", false, "give the project the server's quota")
	return cmd
}

// listProjects lists the projects that have anything, with their quotas.
func listProjects(ctx context.Context, c *client.Client, _ []string) (*table.Table, error) {
	all, err := usages(ctx, c, "", nil)
	return usageTable(all), err
}

func usageTable(all []usage) *table.Table {
	t := &table.Table{Columns: []string{"project", "series", "series_quota", "measures/s", "measures_quota", "requests/s",
		"requests_quota"}}
	for _, u := range all {
		q := &u.Quota
		t.Add(u.Project, u.Series, boundText(q.Series), u.Measures, boundText(q.Measures), u.Requests,
			boundText(q.Requests))
	}
	return t
}

// usages asks for all projects, or for that of a path, which gets the bounds if there are any. Users who may not manage
// quotas see their own project.
func usages(ctx context.Context, c *client.Client, path string, bounds map[string]int64) ([]usage, error) {
	var all []usage
	var one usage
	switch {
	case len(bounds) > 0:
		err := c.Do(ctx, http.MethodPut, path, bounds, &one)
		return []usage{one}, err
	case path != "":
		err := c.Do(ctx, http.MethodGet, path, nil, &one)
		return []usage{one}, err
	}
	err := eachRow(ctx, c, "/v1/quotas", url.Values{}, func(u usage) (marker string) {
		all = append(all, u)
		return u.Project
	})
	if refused, ok := errors.AsType[*client.StatusError](err); ok && refused.Status == http.StatusForbidden {
		err = c.Do(ctx, http.MethodGet, "/v1/usage", nil, &one)
		return []usage{one}, err
	}
	return all, err
}

func boundText(bound int64) string {
	if bound == model.Unlimited {
		return "any"
	}
	return strconv.FormatInt(bound, 10)
}
