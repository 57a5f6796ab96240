package server

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// clusterCollector is a prometheus.Collector of what this process holds of the cluster.
type clusterCollector struct {
	node                          *node
	members, epoch, measures, age *prometheus.Desc
}

func newClusterCollector(n *node) *clusterCollector {
	return &clusterCollector{
		node:     n,
		members:  prometheus.NewDesc("gnocco_cluster_members", "Live processes of the cluster, by role.", []string{"role"}, nil),
		epoch:    prometheus.NewDesc("gnocco_claim_epoch", "Epoch of each store that this process holds.", []string{"claim"}, nil),
		measures: prometheus.NewDesc("gnocco_sack_backlog_measures", "Measures in this process's incoming stores that are not processed, by sack.", []string{"sack"}, nil),
		age:      prometheus.NewDesc("gnocco_sack_backlog_age_seconds", "How long the oldest of them has waited.", []string{"sack"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *clusterCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.members, c.epoch, c.measures, c.age} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *clusterCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value float64, label string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, label)
	}
	if members, err := c.node.session.Members(context.Background()); err == nil {
		for _, role := range RoleBoth.names() {
			gauge(c.members, float64(len(withRole(members, Role(role)))), role)
		}
	}
	for _, held := range c.node.claims.list() {
		gauge(c.epoch, float64(held.Epoch), held.Name)
	}
	stores := c.node.heldStores()
	if len(stores) == 0 {
		return
	}
	measures, age := make([]int, c.node.cluster.Sacks), make([]time.Duration, c.node.cluster.Sacks)
	now := time.Now()
	for _, store := range stores {
		for sack, backlog := range store.Backlog().Sacks {
			measures[sack] += backlog.Measures
			age[sack] = max(age[sack], backlog.Age(now))
		}
	}
	for sack := range measures {
		gauge(c.measures, float64(measures[sack]), strconv.Itoa(sack))
		gauge(c.age, age[sack].Seconds(), strconv.Itoa(sack))
	}
}
