package gnocchiconf

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/model"
)

// Settings are what a configuration comes to.
type Settings struct {
	Values   map[string]any // by the name of the setting
	Warnings []Warning
}

// Warning tells of an option that has no effect.
type Warning struct{ Option, Reason string }

// Settings returns the settings for a program of this name. given returns the value that the command line or the
// environment has for a setting, which goes before the file's.
func (f *File) Settings(program string, given func(setting string) (string, bool)) (*Settings, error) {
	m := mapping{File: f, given: given, out: &Settings{Values: make(map[string]any)}}
	m.log(program)
	data := filepath.Join(f.Value("storage", "file_basepath"), "gnocco")
	m.set("data", data)
	if folder, ok := given("data"); ok {
		data = folder
	}
	m.api()
	m.policy()
	m.statsd(data)
	m.text("workers", "metricd", "workers")
	for _, age := range []key{{"metricd", "metric_inactive_after"}, {"metricd", "resource_cleanup_after"}} {
		if m.has(age) {
			m.set(strings.ReplaceAll(age.name, "_", "-"), m.Value(age.section, age.name)+"s")
		}
	}
	m.warn()
	return m.out, errors.Join(m.faults...)
}

type mapping struct {
	*File
	given  func(string) (string, bool)
	out    *Settings
	faults []error
}

func (m *mapping) set(setting string, value any) { m.out.Values[setting] = value }

// text sets what an option says, if it says something.
func (m *mapping) text(setting, section, name string) {
	if value := m.Value(section, name); value != "" {
		m.set(setting, value)
	}
}

func (m *mapping) fault(section, name, format string, args ...any) {
	m.faults = append(m.faults, fmt.Errorf("%s: "+format, append([]any{key{section, name}}, args...)...))
}

func (m *mapping) isGiven(setting string) bool {
	_, ok := m.given(setting)
	return ok
}

// secret sets the account's, unless a file with it is given.
func (m *mapping) secret(section, name string) {
	if !m.isGiven("keystone-secret-file") {
		m.text("keystone-secret", section, name)
	}
}

func (m *mapping) isTrue(section, name string) bool {
	value, err := m.boolean(section, name)
	if err != nil {
		m.faults = append(m.faults, err)
	}
	return value
}

func (m *mapping) log(program string) {
	switch {
	case m.isTrue("default", "debug"):
		m.set("log-level", "debug")
	case !m.isTrue("default", "verbose"):
		m.set("log-level", "warn")
	}
	folder, file := m.Value("default", "log_dir"), m.Value("default", "log_file")
	if folder != "" && file == "" {
		file = program + ".log"
	}
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	if file != "" {
		m.set("log-file", file)
	}
}

func (m *mapping) api() {
	m.set("listen", net.JoinHostPort(m.Value("api", "host"), m.Value("api", "port")))
	m.text("max-limit", "api", "max_limit")
	if m.isTrue("api", "enable_proxy_headers_parsing") || m.isTrue("oslo_middleware", "enable_proxy_headers_parsing") {
		m.set("proxy-headers", true)
	}
	if origins := m.list("cors", "allowed_origin"); len(origins) > 0 {
		m.set("cors-allowed-origin", strings.Join(origins, ","))
	}
	m.paste()
	mode := m.Value("api", "auth_mode")
	m.set("auth-mode", mode)
	if other, ok := m.given("auth-mode"); ok {
		mode = other
	}
	switch mode {
	case "basic", "htpasswd":
	case "keystone":
		m.keystone()
	case "remoteuser":
		if !m.isGiven("remote-user-header") {
			m.fault("api", "auth_mode", "remoteuser: Gnocchi believes the web server that runs it; "+
				"here a proxy names the user in a header, which it must take from requests that come with one. "+
				"Give --remote-user-header to say that it does")
		}
	default:
		m.fault("api", "auth_mode", "%q is none of basic, keystone, remoteuser and htpasswd", mode)
	}
}

// keystone sets the server that validates tokens, and the service's account at it.
func (m *mapping) keystone() {
	section := "keystone_authtoken"
	if other := m.Value(section, "auth_section"); other != "" {
		section = normal(other)
	}
	if m.Value(section, "auth_url") == "" && !m.isGiven("keystone-url") {
		m.fault(section, "auth_url", "is missing: without Keystone's address headers would be believed")
	}
	m.text("keystone-url", section, "auth_url")
	switch kind := m.Value(section, "auth_type"); kind {
	case "", "password", "v3password":
		m.text("keystone-user", section, "username")
		m.secret(section, "password")
		m.text("keystone-project", section, "project_name")
		for _, of := range []string{"user", "project"} {
			m.text("keystone-"+of+"-domain", section, of+"_domain_name")
			m.text("keystone-"+of+"-domain-id", section, of+"_domain_id")
			if id := of + "_id"; m.has(key{section, id}) {
				m.fault(section, id, "give the name instead")
			}
		}
	case "v3applicationcredential":
		m.text("keystone-application-credential", section, "application_credential_id")
		m.secret(section, "application_credential_secret")
	default:
		m.fault(section, "auth_type", "%q is neither password nor v3applicationcredential", kind)
	}
	m.text("keystone-ca-file", "keystone_authtoken", "cafile")
	if m.isTrue("keystone_authtoken", "insecure") {
		m.fault("keystone_authtoken", "insecure",
			"Keystone's certificate is always checked; name its authority by cafile")
	}
	for _, name := range []string{"certfile", "keyfile"} {
		if m.has(key{"keystone_authtoken", name}) {
			m.fault("keystone_authtoken", name, "no certificate can be shown to Keystone")
		}
	}
	if section != "keystone_authtoken" { // what it says is not unknown
		for _, k := range m.keys {
			if k.section == section {
				delete(m.values, k)
			}
		}
	}
}

// own are the parts of a paste configuration that Gnocchi's has itself, but for its applications.
var own = []string{
	"keystone_authtoken", "gnocchiv1", "gnocchiversions", "cors", "http_proxy_to_wsgi", "healthcheck", "statsd",
}

// paste refuses a pipeline with other filters: one of them may say who may do what.
func (m *mapping) paste() {
	name := m.Value("api", "paste_config")
	if name == "" {
		return
	}
	path := m.beside(name)
	if path == "" && name == "api-paste.ini" {
		return // Gnocchi's own, which comes with its code
	}
	content, err := os.ReadFile(path)
	if err != nil {
		m.fault("api", "paste_config", "%s cannot be read, so it is unknown whether its filters check permissions",
			name)
		return
	}
	file, err := parse(string(content))
	if err != nil {
		m.fault("api", "paste_config", "%s: %w", path, err)
		return
	}
	for _, k := range file.keys {
		if !strings.HasPrefix(k.section, "pipeline:") || k.name != "pipeline" {
			continue
		}
		for filter := range strings.FieldsSeq(file.raw(k)) {
			if !slices.Contains(own, normal(filter)) {
				m.fault("api", "paste_config", "%s has a filter %s, which would not be asked any more", path, filter)
			}
		}
	}
}

// beside returns the path of a file that an option names: as it is, or beside the configuration; "" if there is none.
func (m *mapping) beside(name string) string {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = nil
		for _, path := range slices.Backward(m.paths) {
			candidates = append(candidates, filepath.Join(filepath.Dir(path), name))
		}
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

func (m *mapping) policy() {
	option := key{"oslo_policy", "policy_file"}
	if m.isGiven("policy-file") {
		return
	}
	if name := m.Value(option.section, option.name); name != "" {
		path := m.beside(name)
		if path == "" {
			m.fault(option.section, option.name, "there is no %s: Gnocchi's own rules would hold instead of yours",
				name)
			return
		}
		m.set("policy-file", path)
	} else {
		for _, name := range []string{"policy.yaml", "policy.json"} {
			if path := m.beside(name); path != "" {
				m.set("policy-file", path)
				break
			}
		}
	}
	folders := m.list("oslo_policy", "policy_dirs")
	if len(folders) == 0 {
		folders = []string{"policy.d"}
	}
	for _, folder := range folders {
		if path := m.beside(folder); path != "" {
			if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
				m.fault("oslo_policy", "policy_dirs",
					"%s holds rules, which would not count: put them into policy_file", path)
			}
		}
	}
}

// SocketName is the socket in the data folder at which an API takes what gnocchi-statsd passes on.
const SocketName = "statsd.sock"

// maxSocketPath is what the kernel takes for a socket's path, in bytes.
const maxSocketPath = 107

// statsd maps the settings of gnocchi-statsd. A fault of theirs is a warning: they stop no start of an API.
func (m *mapping) statsd(data string) {
	warn := func(name, format string, args ...any) {
		m.out.Warnings = append(m.out.Warnings, Warning{key{"statsd", name}.String(), fmt.Sprintf(format, args...)})
	}
	if m.has(key{"statsd", "resource_id"}) {
		socket := filepath.Join(data, SocketName)
		id := m.Value("statsd", "resource_id")
		if _, err := model.ResourceID(id, m.Value("statsd", "creator")); err != nil {
			warn("resource_id", "messages of statsd are not taken: %s", err)
		} else if len(socket) > maxSocketPath {
			warn("resource_id", "messages of statsd are not taken: the path of their socket, %s, is longer than %d bytes; "+
				"a data folder with a shorter path, or statsd-listen, mends it", socket, maxSocketPath)
		} else {
			m.set("statsd-listen", "unix:"+socket)
			m.set("statsd-resource-id", id)
		}
	}
	m.text("statsd-creator", "statsd", "creator")
	if labels, _ := m.given("statsd-labels"); labels == "true" && m.Value("statsd", "archive_policy_name") != "" {
		warn("archive_policy_name", "series with labels have the archive policy of all pushed series")
	} else {
		m.text("statsd-archive-policy", "statsd", "archive_policy_name")
	}
	delay := m.Value("statsd", "flush_delay")
	interval, err := time.ParseDuration(delay + "s")
	if _, plain := strconv.ParseFloat(delay, 64); err != nil || plain != nil || interval <= 0 {
		warn("flush_delay", "%q is no number of seconds above 0", delay)
		return
	}
	m.set("statsd-flush-interval", delay+"s")
}

// HasStatsd reports whether there is a resource for statsd's metrics.
func (f *File) HasStatsd() bool { return f.has(key{"statsd", "resource_id"}) }

// StatsdAddress returns where gnocchi-statsd listens.
func (f *File) StatsdAddress() string {
	return net.JoinHostPort(f.Value("statsd", "host"), f.Value("statsd", "port"))
}

var methodsKey = key{"archive_policy", "default_aggregation_methods"}

// warn lists what has no effect, in the order of the files.
func (m *mapping) warn() {
	for _, k := range m.keys {
		if m.values[k] == nil || m.raw(k) == "" {
			continue
		}
		o, ok := known[k]
		switch {
		case !ok:
			m.out.Warnings = append(m.out.Warnings, Warning{k.String(), "it is not known"})
		case o.setting != "" || quiet[k] || o.name == "driver" && m.raw(k) == "file":
		case k == methodsKey && strings.Join(m.list(k.section, k.name), ",") == defaultMethods:
		default:
			m.out.Warnings = append(m.out.Warnings, Warning{k.String(), strings.ReplaceAll(o.note, "`", "")})
		}
	}
}

// quiet are options without a setting of their own that have their effect, or are refused.
var quiet = map[key]bool{
	{"keystone_authtoken", "auth_type"}: true, {"keystone_authtoken", "auth_section"}: true,
	{"keystone_authtoken", "insecure"}: true, {"keystone_authtoken", "certfile"}: true,
	{"keystone_authtoken", "keyfile"}: true,
	{"api", "paste_config"}:           true, {"oslo_policy", "policy_dirs"}: true,
}
