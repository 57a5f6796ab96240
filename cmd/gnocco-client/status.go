package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/shared/table"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/model"
)

func newStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the processes of a cluster, and what waits or is damaged",
		Args:  cobra.NoArgs,
	}
	var output string
	table.DefineOutput(cmd.Flags(), &output)
	askServer(cmd, func(cmd *cobra.Command, c *client.Client, _ []string) error {
		var answer struct {
			Storage struct {
				Summary struct {
					Measures int `json:"measures"`
				} `json:"summary"`
			} `json:"storage"`
			Cluster model.ClusterStatus `json:"cluster"`
		}
		if err := c.Do(cmd.Context(), "GET", "/v1/status?details=false", nil, &answer); err != nil {
			return err
		}
		report := cmd.ErrOrStderr()
		t := &table.Table{Columns: []string{"process", "roles", "address", "version", "uptime", "memory", "accepted", "processed"}}
		for _, m := range answer.Cluster.Members {
			row := []any{m.ID, strings.Join(m.Roles, ", "), m.Address, "no answer", nil, nil, nil, nil}
			if f := m.Figures; f != nil {
				if f.Pair != "" {
					fmt.Fprintf(report, "two senders push the same series, such as %s: see --replica-labels\n", f.Pair)
				}
				row = append(row[:3], f.Version, time.Duration(f.Uptime)*time.Second,
					fmt.Sprintf("%.0f MiB", float64(f.Memory)/(1<<20)), f.Accepted, f.Processed)
			}
			t.Rows = append(t.Rows, row)
		}
		if err := t.Write(cmd.OutOrStdout(), output); err != nil {
			return err
		}
		for _, store := range answer.Cluster.Damaged {
			fmt.Fprintf(report, "damaged: %s\n", store.Name)
		}
		var backups []model.Backup
		if err := c.Do(cmd.Context(), "GET", "/v1/backups", nil, &backups); err != nil {
			return err
		}
		for _, b := range backups {
			if b.Follows {
				fmt.Fprintf(report, "the copy in %s is %s behind%s\n", b.To, time.Since(b.Begun).Round(time.Second),
					strings.TrimSuffix(": "+b.Error, ": "))
			}
		}
		_, err := fmt.Fprintf(report, "waiting: %s of measures; damaged: %s\n",
			counted.Of(answer.Storage.Summary.Measures, "bundle"), counted.Of(len(answer.Cluster.Damaged), "store"))
		return err
	})
	return cmd
}
