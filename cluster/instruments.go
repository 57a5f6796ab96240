package cluster

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/model"
)

// clusterCollector is a prometheus.Collector of the members and of the stores that this process holds.
type clusterCollector struct {
	membership *membership
	incoming   *incomingStores
	sacks      int // of the cluster
	missing    func() []string
	index      *indexReconciler

	members, missed, damaged, measures, age, backup, copied *prometheus.Desc
}

func newClusterCollector(members *membership, stores *incomingStores, sacks int,
	missing func() []string, index *indexReconciler) *clusterCollector {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &clusterCollector{
		membership: members, incoming: stores, sacks: sacks, missing: missing, index: index,
		members: describe("gnocco_cluster_members", "Live processes of the cluster, by role.", "role"),
		missed: describe("gnocco_cluster_missing",
			"Stores that no process of the cluster holds, by kind: index or sacks.", "kind"),
		damaged: describe("gnocco_damaged_stores",
			"1 for each store of this process's share that cannot be opened, or not be read in part; GET /v1/status says why.",
			"store"),
		measures: describe("gnocco_sack_backlog_measures",
			"Measures in this process's incoming stores that are not processed, by sack.", "sack"),
		age: describe("gnocco_sack_backlog_age_seconds", "How long the oldest of them has waited, of sacks that have any.", "sack"),
		backup: describe("gnocco_backup_last_success_timestamp_seconds",
			"When the last backup ended that did not fail, as the process knows that holds the index."),
		copied: describe("gnocco_copy_behind_seconds", "How far the copy that follows the data folder is behind; of several, the last."),
	}
}

// Describe implements prometheus.Collector.
func (c *clusterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.members, c.missed, c.damaged, c.measures, c.age, c.backup, c.copied} {
		ch <- d
	}
}

func (c *clusterCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if ended := c.index.lastBackup.Ended(); ended > 0 && c.index.shared.local.Load() != nil {
		gauge(c.backup, float64(ended))
	}
	if followed := c.index.lastBackup.Followed(); followed > 0 && c.index.shared.local.Load() != nil {
		gauge(c.copied, time.Since(time.Unix(followed, 0)).Seconds())
	}
	if members, err := c.membership.session.Members(context.Background()); err == nil {
		for _, role := range RoleBoth.names() {
			gauge(c.members, float64(len(withRole(members, Role(role)))), role)
		}
	}
	missing := map[string]int{"index": 0, "sacks": 0}
	for _, name := range c.missing() {
		kind, _, _ := strings.Cut(name, "/")
		missing[kind]++
	}
	for kind, n := range missing {
		gauge(c.missed, float64(n), kind)
	}
	for _, store := range c.incoming.environment.damaged.list() {
		if store.Fault != model.StoreLocked {
			gauge(c.damaged, 1, store.Name)
		}
	}
	stores := c.incoming.held()
	if len(stores) == 0 {
		return
	}
	measures, age := make([]int, c.sacks), make([]time.Duration, c.sacks)
	now := time.Now()
	for _, store := range stores {
		for sack, backlog := range store.Backlog().Sacks {
			measures[sack] += backlog.Measures
			age[sack] = max(age[sack], backlog.Age(now))
		}
	}
	for sack := range measures {
		gauge(c.measures, float64(measures[sack]), strconv.Itoa(sack))
		if age[sack] > 0 {
			gauge(c.age, age[sack].Seconds(), strconv.Itoa(sack))
		}
	}
}
