package check

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

const chartFolder = "../helm/gnocco"

// chart returns the documents that Helm renders from the chart.
func chart(t *testing.T, values string, release common.ReleaseOptions) ([]byte, error) {
	t.Helper()
	loaded, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	all, err := util.ToRenderValues(loaded, given, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, all)
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			text.WriteString("---\n" + files[name] + "\n")
		}
	}
	return text.Bytes(), err
}

// installed is a first release in the namespace of the files for kustomize.
var installed = common.ReleaseOptions{Name: "gnocco", Namespace: "gnocco", Revision: 1, IsInstall: true}

// objects returns the documents of a text by kind and name.
func objects(t *testing.T, text []byte) map[string]map[string]any {
	t.Helper()
	found := make(map[string]map[string]any)
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		var object map[string]any
		if err == nil {
			err = yaml.Unmarshal(document, &object)
		}
		if err != nil {
			t.Fatal(err)
		}
		if object == nil {
			continue
		}
		name := object["metadata"].(map[string]any)["name"]
		found[object["kind"].(string)+" "+name.(string)] = object
	}
}

// forms are the values with which the chart is a folder for kustomize.
var forms = map[string]string{
	"one":          "image: {tag: latest}",
	"cluster":      "{image: {tag: latest}, cluster: {enabled: true}, storage: {class: shared}}",
	"cert-manager": "{image: {tag: latest}, cluster: {enabled: true, certManager: true}, storage: {class: shared}}",
}

// The chart equals the files for kustomize, field by field, but for the namespace, which Helm's user makes. So the
// tests of those files hold for the chart.
func TestChartEqualsKustomize(t *testing.T) {
	for folder, values := range forms {
		t.Run(folder, func(t *testing.T) {
			want, err := exec.Command("kubectl", "kustomize", "../kubernetes/"+folder).Output()
			if errors.Is(err, exec.ErrNotFound) { // kustomize names the image, as the files do
				want, err = nil, nil
				for _, name := range kustomized[folder] {
					text, failed := os.ReadFile("../kubernetes/" + name)
					want, err = append(append(want, "\n---\n"...), text...), errors.Join(err, failed)
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := chart(t, values, installed)
			if err != nil {
				t.Fatal(err)
			}
			requireEqual(t, got, want)
		})
	}
	t.Run("egress", func(t *testing.T) {
		want, err := os.ReadFile("../kubernetes/egress.yaml")
		if err != nil {
			t.Fatal(err)
		}
		got, err := chart(t, "{egress: {keystone: {cidr: 192.0.2.10/32}, etcd: {cidr: 192.0.2.20/32}}}", installed)
		if err != nil {
			t.Fatal(err)
		}
		policies := objects(t, got)
		for name, object := range objects(t, want) {
			if !reflect.DeepEqual(policies[name], object) {
				t.Errorf("%s is\n%v\nand not\n%v", name, policies[name], object)
			}
		}
	})
}

func requireEqual(t *testing.T, got, want []byte) {
	t.Helper()
	has, wants := objects(t, got), objects(t, want)
	delete(wants, "Namespace gnocco")
	for name := range has {
		if wants[name] == nil {
			t.Errorf("%s is not among those for kustomize", name)
		}
	}
	for name, object := range wants {
		if !reflect.DeepEqual(has[name], object) {
			text, _ := yaml.Marshal(has[name])
			other, _ := yaml.Marshal(object)
			t.Errorf("%s is\n%s\nand not\n%s", name, text, other)
		}
	}
}

// Kubernetes' schemas and the program know all that the chart makes, also with other values than the standard ones.
func TestChartIsWhole(t *testing.T) {
	for name, values := range forms {
		t.Run(name, func(t *testing.T) {
			text, err := chart(t, values, installed)
			if err != nil {
				t.Fatal(err)
			}
			m := new(manifest)
			m.read(t, text)
			requireWhole(t, m)
		})
	}
	text, err := chart(t, `{image: {repository: registry.example/gnocco, pullPolicy: Always, pullSecrets: [a]},
		auth: {args: [--auth-mode=keystone, "--keystone-url=https://keystone.example:5000"], secret: ""},
		egress: {keystone: {cidr: 192.0.2.10/32}, etcd: {cidr: 192.0.2.20/32}}, storage: {class: shared, size: 1Ti},
		cluster: {enabled: true, initArgs: [--sacks=64], api: {replicas: 3, args: [--access-log]},
		etcd: {url: "etcds://192.0.2.20:2379,192.0.2.21:2379", secret: gnocco-etcd}}}`,
		common.ReleaseOptions{Name: "other", Namespace: "telemetry", Revision: 7, IsUpgrade: true})
	if err != nil {
		t.Fatal(err)
	}
	m := new(manifest)
	m.read(t, text)
	for _, set := range m.sets {
		spec := set.Spec.Template.Spec
		requireCommand(t, "gnocco", spec.Containers[0].Args...)
		if spec.Containers[0].Image != "registry.example/gnocco:"+productVersion(t) || len(spec.ImagePullSecrets) != 1 ||
			!slices.Contains(spec.Containers[0].Args,
				"--peer-advertise=$(POD_NAME).gnocco-peers.telemetry.svc:8042") {
			t.Errorf("%s: %+v", set.Name, spec)
		}
	}
	if job := m.jobs[0]; job.Name != "gnocco-init-7" || !slices.Contains(job.Spec.Template.Spec.Containers[0].Args,
		"--sacks=64") {
		t.Errorf("the job is %s", job.Name) // a Job cannot be changed
	}
}

// Helm's lint is content, and the schema of values refuses what the templates would ignore.
func TestChartLint(t *testing.T) {
	for _, values := range forms {
		var given map[string]any
		if err := yaml.Unmarshal([]byte(values), &given); err != nil {
			t.Fatal(err)
		}
		for _, message := range lint.RunAll(chartFolder, given, "gnocco").Messages {
			if message.Severity > support.InfoSev {
				t.Error(message)
			}
		}
	}
	for _, wrong := range []string{"cluster: {enabled: true}", "cluster: {metricd: {replicas: 0}}", "imge: {}",
		"serve: {args: --access-log}"} {
		if _, err := chart(t, wrong, installed); err == nil {
			t.Errorf("%s is accepted", wrong)
		}
	}
}

// productVersion returns the version of the program.
func productVersion(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(binaries, "gnocco"), "version").Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 {
		t.Fatalf("%v: %s", err, out)
	}
	return fields[1]
}
