package lint_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// layers says which packages of ours those below a folder may import; the longest folder that fits counts. Packages
// below one folder may import each other, unless a longer entry says otherwise. "*" is any.
var layers = table(
	".:",
	"carbonara: internal/compensated internal/corruption internal/decimal internal/parallel internal/simd",
	"model: carbonara internal/decimal",
	"storage: internal/corruption",
	"storage/archive: storage/engine storage model carbonara internal/budget",
	"storage/claim: storage/engine storage internal/etcdaccess internal/pause",
	"storage/engine: storage internal/fulldisk",
	"storage/incoming: storage/engine storage model carbonara internal/decimal internal/keyhash internal/roster",
	"storage/index: storage/index storage/engine storage model carbonara internal/keyhash internal/parallel internal/roster",
	"storage/index/keyspace: model carbonara internal/parallel",
	"storage/index/records: storage/index/keyspace storage model carbonara",
	"storage/index/commits: storage/index/keyspace storage/index/records storage",
	"storage/index/metrics: storage/index/commits storage/index/keyspace storage/index/records storage model carbonara internal/keyhash internal/roster",
	"storage/index/search: storage/index/metrics storage/index/commits storage/index/keyspace storage/index/records storage model carbonara",
	"metricd: metricd storage model carbonara",
	"metricd/heads: metricd/intake storage/archive storage model carbonara internal/replica internal/keyhash internal/roster",
	"metricd/view: metricd/heads storage/archive model carbonara internal/replica internal/budget",
	"metricd/rebuild: storage/archive storage model carbonara internal/replica",
	"metricd/changes: carbonara",
	"metricd/latetypes: storage/index model",
	"metricd/intake: storage/incoming model carbonara",
	"ingest/series: ingest ingest/parts internal/counted internal/budget internal/figures storage/index model carbonara internal/replica",
	"ingest: internal/counted internal/budget ingest/idset internal/keyhash internal/quota internal/replica internal/roster storage/incoming storage/index model carbonara",
	"ingest/idset:",
	"ingest/parts: model",
	"ingest/labelset: model",
	"ingest/plaintext: carbonara",
	"listener: ingest/plaintext ingest/series carbonara model",
	"listener/graphite: ingest/labelset ingest/plaintext carbonara model",
	"statsd: ingest internal/keyhash internal/pause internal/quota storage/incoming storage/index model carbonara",
	"anomaly: model carbonara",
	"query: anomaly internal/budget internal/parallel query/activity query/aggregates query/correlations query/postings query/promql model carbonara correlate",
	"query/activity: ingest/exemplars",
	"ingest/exemplars: model",
	"query/aggregates: internal/compensated internal/parallel model carbonara",
	"query/correlations: internal/budget internal/parallel query query/aggregates model carbonara correlate",
	"query/postings: internal/budget model carbonara",
	"query/promql: internal/budget internal/compensated internal/parallel query query/postings query/promql/columns model carbonara",
	"query/promql/columns: carbonara/ranked",
	"rules: ingest internal metricd/changes model carbonara query storage/index",
	"rules/handlers: api/auth api/text api/web ingest internal/budget model query rules",
	"cluster: backup cluster/peer cluster/datafolder query metricd storage model carbonara internal",
	"cluster/datafolder: internal/counted internal/fulldisk storage model",
	"cluster/peer: query/activity metricd/latetypes storage model carbonara internal",
	"api: . console rules internal/version internal/counted internal/budget internal/quota api ingest query storage/incoming storage/index model carbonara correlate",
	"api/auth: api/policy internal/keystone",
	"api/correlations: anomaly api/auth api/text api/web query model carbonara correlate",
	"api/influxdb: api/auth api/influxdb/lineprotocol api/web internal/version internal/budget ingest model carbonara",
	"api/influxdb/lineprotocol: ingest/plaintext model carbonara",
	"api/measures: model carbonara internal/decimal ingest/idset",
	"api/operators: api/auth api/web internal/quota query storage/incoming model carbonara",
	"api/otlp: api/auth api/text api/web api/wire internal/counted internal/budget internal/keyhash ingest model carbonara",
	"api/pages: . console internal/version api/auth api/static api/viewer api/web model",
	"api/policy:",
	"api/prometheus: api/auth api/web api/wire internal/counted internal/budget ingest model carbonara",
	"api/promql: api/auth api/web internal/version internal/budget ingest/series query/activity ingest/exemplars query/postings query/promql model",
	"api/static:",
	"api/text: model carbonara internal/decimal",
	"api/viewer: api/static",
	"api/web: api/auth api/measures api/policy api/text internal/counted internal/budget internal/figures internal/quota ingest query storage/incoming storage/index model carbonara",
	"api/wire:",
	"console:",
	"gpu/correlate: internal/parallel gpu/device gpu/kernels gpu/cu correlate",
	"gpu/cu:",
	"gpu/device: gpu/cu",
	"gpu/kernels:",
	"gpu/resample: internal/compensated internal/parallel gpu/device gpu/kernels gpu/cu carbonara",
	"correlate: internal/parallel",
	"bench/cmd: bench internal cmd/shared/bytesize cmd/shared/devices correlate gpu",
	"bench: bench/pattern bench/report storage model internal",
	"bench/correlation: bench/device bench/report cmd/gnocco-correlate/csv correlate gpu/correlate gpu/device",
	"bench/device: bench/pattern bench/report bench/device/kernels carbonara gpu/cu gpu/device gpu/resample query/aggregates",
	"bench/incidents: anomaly carbonara",
	"bench/formats: bench/pattern bench/report carbonara",
	"bench/pattern:",
	"bench/report: internal/version",
	"internal: internal carbonara",
	"backup: internal/counted internal/pause internal/version cluster/datafolder model storage",
	"internal/budget:",
	"internal/compensated:",
	"internal/connections:",
	"internal/corruption:",
	"internal/counted:",
	"internal/etcdaccess:",
	"internal/figures:",
	"internal/fulldisk:",
	"internal/keyhash:",
	"internal/keystone:",
	"internal/parallel:",
	"internal/replica: carbonara",
	"internal/roster: internal/keyhash",
	"internal/quota: model",
	"internal/simd:",
	"internal/decimal:",
	"internal/version:",
	"server: backup rules ingest/series query/activity model carbonara internal api cluster correlate listener statsd storage/index",
	"cmd: *",
	"tests: *",
	"tools: *",
)

// table parses rows of the form "folder: folder folder".
func table(rows ...string) map[string][]string {
	parsed := make(map[string][]string)
	for _, row := range rows {
		folder, allowed, _ := strings.Cut(row, ":")
		parsed[folder] = strings.Fields(allowed)
	}
	return parsed
}

// below reports whether a folder is dir or lies below it.
func below(folder, dir string) bool { return folder == dir || strings.HasPrefix(folder, dir+"/") }

// helpsTests reports whether a folder holds a package for tests, such as tests/cutest.
func helpsTests(folder string) bool {
	return strings.HasSuffix(folder, "test") || folder == "tests/testprogram"
}

// layerOf returns the entry of layers that a folder falls under.
func layerOf(folder string) (layer string, ok bool) {
	for dir := range layers {
		if below(folder, dir) && len(dir) >= len(layer) {
			layer, ok = dir, true
		}
	}
	return layer, ok
}

// Tests may import what they like: a test of the API runs the real workers.
func TestImportsPointDown(t *testing.T) {
	for _, file := range files(t) {
		if file.test {
			continue
		}
		layer, ok := layerOf(file.dir())
		if !ok {
			t.Errorf("%s: folder %s has no place in layers", file.path, file.dir())
			continue
		}
		for _, imported := range file.imports() {
			folder, ours := strings.CutPrefix(imported, module+"/")
			if imported == module {
				folder, ours = ".", true
			}
			if !ours {
				continue
			}
			target, _ := layerOf(folder)
			allowed := slices.ContainsFunc(layers[layer], func(dir string) bool {
				return dir == "*" || below(folder, dir)
			})
			if !allowed && target != layer {
				t.Errorf("%s: package %s must not import %s", file.path, file.dir(), folder)
			}
			if commands := []string{"cmd", "bench", "tools"}; strings.HasPrefix(folder, "cmd/") &&
				!slices.ContainsFunc(commands, func(top string) bool { return below(file.dir(), top) }) {
				t.Errorf("%s: only commands, benchmarks and tools import %s", file.path, folder)
			}
			if below(folder, "bench") && !below(file.dir(), "bench") {
				t.Errorf("%s: the server must not link %s", file.path, folder)
			}
		}
	}
}

// forbidden are imports that no folder, or only some, may have. The rule also holds for tests.
var forbidden = []struct {
	path, because string
	except        []string // folders
}{
	{"C", "one binary must run with and without a device", nil},
	{"log", "we log with log/slog", nil},
	{"io/ioutil", "it is deprecated", nil},
	{"math/rand", "we use math/rand/v2", nil},
	{"github.com/pkg/errors", "we wrap with fmt.Errorf", nil},
	{"github.com/spf13/cobra", "flags are read in cmd only", []string{"cmd", "bench/cmd", "tools/inspect"}},
	{"github.com/spf13/pflag", "flags are read in cmd only", []string{"cmd", "bench/cmd", "cmd/shared/devices"}},
	{"github.com/pelletier/go-toml/v2", "settings are read in cmd only", []string{"cmd"}},
	{"flag", "flags are read in cmd only", []string{"cmd", "tools", "tests"}},
	{"github.com/cockroachdb/pebble", "version 2 is what we use", nil},
	{"github.com/go-chi/chi", "version 5 is what we use", nil},
}

// One package speaks to etcd, and a module of its own tests it. docs/decisions/0088-the-house.md says what that weighs.
func TestOnePackageSpeaksEtcd(t *testing.T) {
	found := false
	for _, file := range files(t) {
		ours := below(file.dir(), "storage/claim/etcd")
		for _, imported := range file.imports() {
			if !strings.HasPrefix(imported, "go.etcd.io/") && !strings.HasPrefix(imported, "google.golang.org/grpc") {
				continue
			}
			if found = found || ours; !ours && !below(file.dir(), "tests/etcd") && !below(file.dir(), "tests/opentelemetry") {
				t.Errorf("%s imports %s: that is for storage/claim/etcd", file.path, imported)
			}
		}
	}
	if !found {
		t.Error("no file of storage/claim/etcd imports etcd's client")
	}
}

// speaksHTTP are the packages that import net/http themselves; the others work without a request.
var speaksHTTP = []string{"cluster", "cluster/peer", "rules/handlers", "server", "internal/client",
	"internal/connections", "internal/keystone"}

func TestHTTPStaysAtTheEdge(t *testing.T) {
	for _, file := range files(t) {
		dir := file.dir()
		edge := slices.ContainsFunc([]string{"api", "bench", "cmd", "tests", "tools"}, func(top string) bool {
			return below(dir, top)
		})
		if file.test || edge && !below(dir, "cmd/shared/offline") || slices.Contains(speaksHTTP, dir) {
			continue
		}
		for _, imported := range file.imports() {
			if below(imported, "net/http") {
				t.Errorf("%s: package %s must not import %s", file.path, dir, imported)
			}
		}
	}
}

func TestNoForbiddenImports(t *testing.T) {
	for _, file := range files(t) {
		for _, imported := range file.imports() {
			for _, rule := range forbidden {
				excepted := slices.ContainsFunc(rule.except, func(dir string) bool { return below(file.dir(), dir) })
				// a test's settings
				if imported == rule.path && !excepted &&
					!((file.test || helpsTests(file.dir())) && rule.path == "flag") {
					t.Errorf("%s imports %s: %s", file.path, imported, rule.because)
				}
			}
		}
	}
}

// Settings come in by options: only commands look at the environment.
func TestEnvironmentIsReadInCommands(t *testing.T) {
	for _, file := range files(t) {
		if file.test || helpsTests(file.dir()) || below(file.dir(), "cmd") || below(file.dir(), "tools") {
			continue
		}
		ast.Inspect(file.ast, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name := selector.Sel.Name
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "os" &&
				(name == "Getenv" || name == "LookupEnv" || name == "Environ") {
				t.Errorf("%s: os.%s outside cmd", file.path, name)
			}
			return true
		})
	}
}

// Imports stand in groups of one kind each: the standard library, other modules, this one.
func TestImportsAreGrouped(t *testing.T) {
	kind := func(path string) int {
		switch first, _, _ := strings.Cut(path, "/"); {
		case strings.HasPrefix(path, module):
			return 2
		case strings.Contains(first, "."):
			return 1
		}
		return 0
	}
	for _, file := range files(t) {
		if ast.IsGenerated(file.ast) {
			continue
		}
		for i, spec := range file.ast.Imports {
			before := file.ast.Imports[max(i-1, 0)]
			path, other := strings.Trim(spec.Path.Value, `"`), strings.Trim(before.Path.Value, `"`)
			if file.line(spec.Pos()) <= file.line(before.End())+1 && kind(path) != kind(other) {
				t.Errorf("%s: no empty line between the imports of %s and %s", file.path, other, path)
			}
		}
	}
}
