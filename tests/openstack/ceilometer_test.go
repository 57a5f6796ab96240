package openstack_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Ceilometer's upgrade creates resource types, a second one changes nothing, and its publisher creates resources, adds
// measures and follows events.
func TestCeilometer(t *testing.T) {
	installed(t, "ceilometer", "gnocchiclient")
	want := map[string]string{
		"types": `["ceph_account", "generic", "host", "host_disk", "host_network_interface", "identity", "image", "instance", "instance_disk",
			"instance_network_interface", "ipmi", "ipmi_sensor", "manila_share", "network", "nova_compute", "port", "stack", "swift_account",
			"switch", "switch_port", "switch_table", "volume", "volume_provider", "volume_provider_pool"]`,
		"the second upgrade changed": `[]`,
		"instances": `[
			{"original_resource_id": "66666666-7777-8888-9999-aaaaaaaaaaaa", "type": "instance",
			"user_id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "project_id": "b7f0b2a8f7a24a2ab3c4d5e6f7081920", "ended_at": false,
			"availability_zone": "nova", "created_at": null, "deleted_at": null, "display_name": "db", "flavor_id": "f2",
			"flavor_name": "m1.large", "host": "compute2", "image_ref": null, "launched_at": null, "server_group": null},
			{"original_resource_id": "11111111-2222-3333-4444-555555555555", "type": "instance",
			"user_id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "project_id": "b7f0b2a8f7a24a2ab3c4d5e6f7081920", "ended_at": true,
			"availability_zone": null, "created_at": null, "deleted_at": null, "display_name": "shop", "flavor_id": "f1",
			"flavor_name": "m1.small", "host": "compute1", "image_ref": "cirros", "launched_at": null, "server_group": "web"}]`,
		"history": `["web", "shop", "shop ended"]`,
		"port": `{"original_resource_id": "instance-00000001-11111111-2222-3333-4444-555555555555-tap0",
			"type": "instance_network_interface", "user_id": "0a1b2c3d4e5f60718293a4b5c6d7e8f9", "project_id": "b7f0b2a8f7a24a2ab3c4d5e6f7081920",
			"ended_at": true, "instance_id": "11111111-2222-3333-4444-555555555555", "name": "tap0"}`,
		"volume":  `["b7f0b2a8f7a24a2ab3c4d5e6f7081920", "another"]`,
		"metrics": `{"cpu": "ns", "memory.usage": "MB"}`,
		"cpu": `[["2026-01-01 12:00:00+00:00", 300, 1000000000], ["2026-01-01 12:05:00+00:00", 300, 4000000000],
			["2026-01-01 12:10:00+00:00", 300, 6000000000]]`,
		"cpu rate":   `[["2026-01-01 12:05:00+00:00", 300, 3000000000], ["2026-01-01 12:10:00+00:00", 300, 2000000000]]`,
		"port bytes": `[["2026-01-01 12:00:00+00:00", 300, 1000], ["2026-01-01 12:10:00+00:00", 300, 3000]]`,
		"memory":     `[["2026-01-01 12:05:00+00:00", 300, 512]]`,
		"size":       `[["2026-01-01 12:00:00+00:00", 300, 20]]`,
	}
	for _, session := range sessions {
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, session)
			var got map[string]any
			run(t, &got, "publish.py", config(t, "[service_credentials]\n", s.session))
			for name, text := range want {
				var w any
				fatal.If(t, json.Unmarshal([]byte(text), &w))
				if !reflect.DeepEqual(got[name], w) {
					t.Errorf("%s: %v, want %v", name, got[name], w)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d answers, want %d", len(got), len(want))
			}
		})
	}
}
