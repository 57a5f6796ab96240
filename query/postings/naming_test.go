package postings_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Ceilometer's names are shown of metrics of resources, and selectors know these and Gnocchi's.
func TestCeilometerNames(t *testing.T) {
	store := openIndex(t)
	kind, err := model.NewResourceType("instance",
		[]*model.Attribute{{Name: "host", Kind: model.KindString, MaxLength: 99},
			{Name: "display_name", Kind: model.KindString, MaxLength: 99},
			{Name: "server_group", Kind: model.KindString, MaxLength: 99},
			{Name: "project", Kind: model.KindString, MaxLength: 99}})
	fatal.If(t, err)
	fatal.If(t, store.CreateResourceType(t.Context(), kind))
	low, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	web, carla := "web", "carla"
	add := func(id, kind string, attributes map[string]string, names ...string) uuid.UUID {
		r := &model.Resource{ID: uuid.NewSHA1(uuid.Nil, []byte(id)), OriginalID: id, Type: kind, Creator: "me",
			ProjectID: &web, UserID: &carla}
		for name, value := range attributes {
			r.Attributes.Set(name, value)
		}
		var metrics []*model.Metric
		for _, name := range names {
			unit := "B"
			if name == "cpu" {
				unit = ""
			}
			metrics = append(metrics, &model.Metric{ID: uuid.New(), Name: name, ArchivePolicy: low,
				Creator: "me", Unit: unit})
		}
		fatal.If(t, store.CreateResource(t.Context(), r, metrics))
		return r.ID
	}
	vm := add("vm1", "instance", map[string]string{"host": "node7", "display_name": "shop", "server_group": "g",
		"project": "hers"},
		"cpu", "memory.usage", "disk.device.read.bytes", "resource.x")
	add("vda", "generic", nil, "disk.device.read.bytes", "ceilometer_known")
	var pushed []byte
	for _, label := range [][2]string{{"__name__", "cpu"}, {"project", "elsewhere"}, {"type", "pushed"}} {
		pushed = model.AppendLabel(pushed, label[0], label[1])
	}
	fatal.If(t, store.CreateMetrics(t.Context(),
		[]*model.Metric{{ID: uuid.New(), ArchivePolicy: low, Creator: "me", Labels: model.Labels(pushed)},
			{ID: uuid.New(), Name: "free", ArchivePolicy: low, Creator: "me"}}))

	catalog := postings.New(store, postings.Options{Bytes: 1 << 20, Ceilometer: true})
	syntax := parser.NewParser(parser.Options{})
	matchers := func(selector string) []*labels.Matcher {
		t.Helper()
		list, err := syntax.ParseMetricSelector(selector)
		fatal.If(t, err)
		return list
	}
	show := func(selector string, want ...string) {
		t.Helper()
		found, err := catalog.Select(t.Context(), nil, matchers(selector)...)
		fatal.If(t, err)
		var got []string
		for _, s := range found {
			got = append(got, s.Labels.String())
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", selector, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	const ofVM = `project="web", publisher="ceilometer", resource="vm1", resource_name="shop", server_group="g", type=`
	const cpu = `{__name__="ceilometer_cpu", counter="cpu", cpu="vm1", ` + ofVM +
		`"cpu", user="carla", vm_instance="node7"}`
	const usage = `{__name__="ceilometer_memory_usage", counter="memory.usage", memory="vm1", ` + ofVM +
		`"usage", unit="B", user="carla", vm_instance="node7"}`
	const read = `{__name__="ceilometer_disk_device_read_bytes", counter="disk.device.read.bytes", disk="read", ` +
		ofVM + `"device", unit="B", user="carla", vm_instance="node7"}`
	const sameWord = `{__name__="ceilometer_resource_x", counter="resource.x", ` + ofVM +
		`"x", unit="B", user="carla", vm_instance="node7"}`
	const disk = `{__name__="ceilometer_disk_device_read_bytes", counter="disk.device.read.bytes", disk="read", project="web", publisher="ceilometer", resource="vda", server_group="none", type="device", unit="B", user="carla"}`
	const remote = `{__name__="cpu", project="elsewhere", type="pushed"}`
	show(`ceilometer_cpu`, cpu)
	show(`cpu`, cpu, remote)
	show(`{__name__=~"ceilometer_c.+"}`, cpu)
	show(`{__name__!="cpu",resource="vm1"}`, read, usage, sameWord)
	show(`{__name__!="ceilometer_cpu",resource="vm1"}`, read, usage, sameWord)
	show(`{__name__!~"cpu|ceilometer_mem.*",resource="vm1"}`, read, sameWord)
	show(`ceilometer_memory_usage{project="web"}`, usage)
	show(`ceilometer_memory_usage{project_id="web",resource_id="`+vm.String()+`",host="node7"}`, usage)
	show(`{project="hers"}`) // the attribute has another name there
	show(`{"disk.device.read.bytes"}`, disk, read)
	show(`{disk="read",type="device",resource=~"vd."}`, disk)
	show(
		`{counter="cpu",publisher="ceilometer",cpu="vm1",server_group="g",vm_instance="node7",resource_name="shop",user="carla"}`, cpu)
	show(`{type="pushed"}`, remote)
	show(`{project="elsewhere"}`, remote)
	show(`{unit="B",type="usage"}`, usage)
	show(`{type!~"cpu|device|usage|x",project!=""}`,
		`{__name__="ceilometer_known", ceilometer_known="vda", counter="ceilometer_known", project="web", `+
			`publisher="ceilometer", resource="vda", server_group="none", type="ceilometer_known", unit="B", user="carla"}`,
		remote)

	list := func(name, want string, selectors ...string) {
		t.Helper()
		var lists [][]*labels.Matcher
		for _, s := range selectors {
			lists = append(lists, matchers(s))
		}
		var got []string
		var err error
		if name == "" {
			got, err = catalog.Names(t.Context(), nil, lists...)
		} else {
			got, err = catalog.Values(t.Context(), nil, name, lists...)
		}
		fatal.If(t, err)
		if strings.Join(got, " ") != want {
			t.Errorf("%q %q: %q, want %q", name, selectors, got, want)
		}
	}
	list("__name__",
		"ceilometer_cpu ceilometer_disk_device_read_bytes ceilometer_known ceilometer_memory_usage ceilometer_resource_x cpu free")
	list("type", "ceilometer_known cpu device pushed usage x")
	list("resource", "vda vm1")
	list("disk", "read")
	list("cpu", "vm1")
	list("project", "elsewhere web")
	list("", "__name__ counter cpu project publisher resource resource_name server_group type user vm_instance",
		`ceilometer_cpu`)
	list("", "__name__ counter cpu project publisher resource resource_name server_group type user vm_instance",
		`cpu{resource!=""}`)

	// Access rules see what is stored: her attribute "project" is not the project.
	attributes := map[string]string{}
	_, err = catalog.Names(t.Context(), func(c postings.Candidate) bool {
		if c.Name() == "cpu" {
			for _, name := range []string{"project_id", "project", "type", "original_resource_id", "resource"} {
				attributes[name] += c.Attribute(name) + ";"
			}
		}
		return true
	}, matchers(`ceilometer_cpu`))
	fatal.If(t, err)
	if want := (map[string]string{"project_id": "web;", "project": "hers;", "type": "instance;",
		"original_resource_id": "vm1;", "resource": ";"}); !maps.Equal(attributes, want) {
		t.Errorf("a rule sees %q, want %q", attributes, want)
	}

	_, err = store.UpdateResource(t.Context(), "instance", vm, carbonara.FromTime(time.Now()),
		func(r *model.Resource) (*index.MetricSet, error) {
			r.ProjectID = nil
			r.Attributes.Set("server_group", "h")
			return nil, nil
		})
	fatal.If(t, err)
	show(`ceilometer_cpu`, strings.NewReplacer(`project="web", `, "", `"g"`, `"h"`).Replace(cpu))
	show(`{server_group="g"}`)
}
