package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/model"
)

// sizePlan is the load that gnocco size estimates.
type sizePlan struct {
	metrics  int
	interval time.Duration
	values   string
	policy   *model.ArchivePolicy
	measured map[time.Duration]float64 // bytes of an aggregate in a server's archives, by granularity; 0 for none
}

func newSize() *cobra.Command {
	var server remote.Flags
	var plan sizePlan
	var policy, interval, output string
	cmd := &cobra.Command{
		Use:   "size",
		Short: "Estimate the disk, memory and CPU that metrics will take",
		Long: `Estimate what a number of metrics takes once the timespans of their archive policy are full. The
policy is a built-in one, a file as the API takes it (JSON or YAML), or with --url one of a server. If
that server has metrics of the policy, their aggregates are measured. Otherwise the values that --values
names are encoded on the spot. Standard error has the limits of the estimate.`,
		Example: `  gnocco size --metrics 100000 --policy medium --interval 10s
  gnocco size --metrics 5000 --policy mine.json --interval 1m --values counter -o json
  gnocco size --metrics 20000 --policy prometheus --url http://127.0.0.1:8041`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if plan.interval, err = model.ParseTimespan(interval); err != nil || plan.interval <= 0 {
				return fmt.Errorf("--interval: %q is no time between two measures, such as 10s", interval)
			}
			if plan.metrics < 1 {
				return fmt.Errorf("--metrics: %d is less than 1", plan.metrics)
			}
			if kinds := valueKinds(); !slices.Contains(kinds, plan.values) {
				return fmt.Errorf("--values: %q is none of %s", plan.values, strings.Join(kinds, ", "))
			}
			if server.URL != "" {
				err = plan.ask(cmd.Context(), &server, policy)
			} else {
				plan.policy, err = policyOf(policy)
			}
			if err != nil {
				return err
			}
			t, notes, err := plan.estimate()
			if err != nil {
				return err
			}
			for _, note := range notes {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			return t.Write(cmd.OutOrStdout(), output)
		},
	}
	flags := cmd.Flags()
	server.Define(flags, "", "address of a server that has the policy (default: no server)")
	flags.IntVar(&plan.metrics, "metrics", 0, "number of metrics")
	flags.StringVar(&policy, "policy", "", "name of the archive policy, or a file that has it")
	flags.StringVar(&interval, "interval", "10s", "time between two measures of a metric")
	flags.StringVar(&plan.values, "values", "gauge", "kind of values: "+strings.Join(valueKinds(), ", "))
	table.DefineOutput(flags, &output)
	_ = cmd.MarkFlagRequired("metrics")
	_ = cmd.MarkFlagRequired("policy")
	return cmd
}

// policyOf returns a built-in policy by its name, or that of a file.
func policyOf(name string) (*model.ArchivePolicy, error) {
	series := model.SeriesArchivePolicy()
	var names []string
	for _, p := range append(model.DefaultArchivePolicies(), series, model.CounterArchivePolicy(series)) {
		if names = append(names, p.Name); p.Name == name {
			return p, nil
		}
	}
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("--policy: %q is neither a file nor one of %s; --url asks a server", name,
			strings.Join(names, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	policy, err := parsePolicy(text)
	if err != nil {
		return nil, fmt.Errorf("--policy: %s: %w", name, err)
	}
	return policy, nil
}

// parsePolicy reads a policy as the API takes and shows it.
func parsePolicy(text []byte) (*model.ArchivePolicy, error) {
	var in struct {
		Name       string
		BackWindow int      `yaml:"back_window"`
		Methods    []string `yaml:"aggregation_methods"`
		Definition []struct {
			Granularity, Timespan *string
			Points                *int64
		}
	}
	if err := yaml.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	var definition []model.DefinitionInput
	for _, item := range in.Definition {
		input := model.DefinitionInput{Points: item.Points}
		for _, span := range []struct {
			text *string
			to   **time.Duration
		}{{item.Granularity, &input.Granularity}, {item.Timespan, &input.Timespan}} {
			if span.text == nil {
				continue
			}
			d, err := model.ParseTimespan(*span.text)
			if err != nil {
				return nil, err
			}
			*span.to = &d
		}
		definition = append(definition, input)
	}
	return model.NewArchivePolicy(in.Name, in.BackWindow, definition, in.Methods)
}

// ask reads the policy of a server, and the bytes of an aggregate where the server has metrics of the policy.
func (p *sizePlan) ask(ctx context.Context, server *remote.Flags, policy string) error {
	c, err := server.Client()
	if err != nil {
		return err
	}
	var answer struct {
		Policy        json.RawMessage `json:"archive_policy"`
		Granularities []struct {
			Granularity string
			Bytes       float64 `json:"bytes_per_aggregate"`
		}
	}
	path := "/v1/archive_policy/" + url.PathEscape(policy) + "/cost"
	if err := c.Do(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return err
	}
	p.measured = make(map[time.Duration]float64)
	for _, g := range answer.Granularities {
		granularity, err := model.ParseTimespan(g.Granularity)
		if err != nil {
			return err
		}
		p.measured[granularity] = g.Bytes
	}
	p.policy, err = parsePolicy(answer.Policy)
	return err
}
