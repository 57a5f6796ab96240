package check

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// certificate has the fields of cert-manager's Issuer and Certificate that we use: its own types would bring its
// server.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		IsCA                             bool              `json:"isCA"`
		CommonName, SecretName, Duration string            //
		RenewBefore                      string            `json:"renewBefore"`
		DNSNames                         []string          `json:"dnsNames"`
		Usages                           []string          `json:"usages"`
		PrivateKey                       map[string]any    `json:"privateKey"`
		IssuerRef                        map[string]string `json:"issuerRef"`
		SelfSigned                       *struct{}         `json:"selfSigned"`
		CA                               map[string]string `json:"ca"`
	} `json:"spec"`
}

// manifest is what a file or folder for Kubernetes holds.
type manifest struct {
	claims       map[string]bool
	services     []*corev1.Service
	sets         []*appsv1.StatefulSet
	jobs         []*batchv1.Job
	policies     []*networkingv1.NetworkPolicy
	certificates []*certificate
}

// read adds the objects of a file: each one that Kubernetes knows, with no field that it does not.
func (m *manifest) read(t *testing.T, content []byte) {
	t.Helper()
	if m.claims == nil {
		m.claims = make(map[string]bool)
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			t.Fatal(err)
		}
		strict := func(object any) {
			t.Helper()
			if err := yaml.UnmarshalStrict(document, object); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
		}
		switch kind.APIVersion + "/" + kind.Kind {
		case "v1/Namespace":
			strict(new(corev1.Namespace))
		case "policy/v1/PodDisruptionBudget":
			strict(new(policyv1.PodDisruptionBudget))
		case "v1/PersistentVolumeClaim":
			o := new(corev1.PersistentVolumeClaim)
			strict(o)
			m.claims[o.Name] = true
		case "v1/Service":
			o := new(corev1.Service)
			strict(o)
			m.services = append(m.services, o)
		case "apps/v1/StatefulSet":
			o := new(appsv1.StatefulSet)
			strict(o)
			m.sets = append(m.sets, o)
		case "batch/v1/Job":
			o := new(batchv1.Job)
			strict(o)
			m.jobs = append(m.jobs, o)
		case "networking.k8s.io/v1/NetworkPolicy":
			o := new(networkingv1.NetworkPolicy)
			strict(o)
			m.policies = append(m.policies, o)
		case "cert-manager.io/v1/Issuer", "cert-manager.io/v1/Certificate":
			o := new(certificate)
			strict(o)
			if o.Kind == "Certificate" {
				m.certificates = append(m.certificates, o)
			}
		default:
			t.Fatalf("%s is no kind that is looked for", kind)
		}
	}
}

// readFiles returns what files hold.
func readFiles(t *testing.T, names ...string) *manifest {
	t.Helper()
	m := new(manifest)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join("../kubernetes", name))
		if err != nil {
			t.Fatal(err)
		}
		m.read(t, content)
	}
	return m
}

// kustomized are the files of each folder for kustomize.
var kustomized = map[string][]string{"one": {"one/gnocco.yaml"}, "cluster": {"cluster/gnocco.yaml"},
	"cert-manager": {"cluster/gnocco.yaml", "cert-manager/certificate.yaml"}}

// Every object is one that Kubernetes knows, with no field that it does not, and what refers to another finds it.
func TestKubernetes(t *testing.T) {
	for folder, files := range kustomized {
		t.Run(folder, func(t *testing.T) { requireWhole(t, readFiles(t, files...)) })
		t.Run(folder+"/kustomize", func(t *testing.T) {
			program, err := exec.LookPath("kubectl")
			if err != nil {
				t.Skip("kubectl is missing")
			}
			out, err := exec.Command(program, "kustomize", "../kubernetes/"+folder).Output()
			if err != nil {
				t.Fatal(err)
			}
			m, want := new(manifest), readFiles(t, files...)
			m.read(t, out)
			requireWhole(t, m)
			if len(m.sets) != len(want.sets) || len(m.policies) != len(want.policies) ||
				len(m.certificates) != len(want.certificates) ||
				len(m.jobs) != len(want.jobs) {
				t.Errorf("%d sets, %d policies and %d certificates", len(m.sets), len(m.policies), len(m.certificates))
			}
		})
	}
}

// requireWhole checks that the objects of a manifest fit each other, and the program.
func requireWhole(t *testing.T, m *manifest) {
	t.Helper()
	if len(m.sets) == 0 {
		t.Error("no pods")
	}
	for _, s := range m.services {
		pods := m.selected(t, &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
		for _, port := range s.Spec.Ports {
			if len(pods) == 0 || slices.ContainsFunc(pods, func(pod *appsv1.StatefulSet) bool {
				return !listens(pod, port.Port)
			}) {
				t.Errorf("service %s: not all of %d kinds of pods listen on %d", s.Name, len(pods), port.Port)
			}
		}
	}
	for _, set := range m.sets {
		if !slices.Contains(m.selected(t, set.Spec.Selector), set) || len(m.selected(t, set.Spec.Selector)) != 1 {
			t.Errorf("%s does not select its pods alone", set.Name)
		}
		requireContainer(t, m, set)
		requirePolicies(t, m, set)
	}
	requireJobs(t, m)
	for _, c := range m.certificates {
		issuer := c.Spec.IssuerRef["name"]
		if c.Spec.SecretName != c.Name || issuer == "" {
			t.Errorf("certificate %s is in %s, by %q", c.Name, c.Spec.SecretName, issuer)
		}
		if usages := []string{"digital signature", "server auth", "client auth"}; !c.Spec.IsCA &&
			(!slices.Equal(c.Spec.Usages, usages) ||
				!slices.Equal(c.Spec.DNSNames, []string{"*.gnocco-peers.gnocco.svc"})) {
			t.Errorf("certificate %s is good for %q as %q", c.Name, c.Spec.Usages, c.Spec.DNSNames)
		}
	}
}

// selected returns the sets whose pods a selector means.
func (m *manifest) selected(t *testing.T, selector *metav1.LabelSelector) []*appsv1.StatefulSet {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	if s.Empty() {
		return nil
	}
	var found []*appsv1.StatefulSet
	for _, set := range m.sets {
		if s.Matches(labels.Set(set.Spec.Template.Labels)) {
			found = append(found, set)
		}
	}
	return found
}

// listens reports whether pods listen on a port.
func listens(set *appsv1.StatefulSet, port int32) bool {
	return slices.ContainsFunc(set.Spec.Template.Spec.Containers[0].Ports, func(p corev1.ContainerPort) bool {
		return p.ContainerPort == port
	})
}

// secretKeys returns the files that the Secrets have which docs/how-to/install.md makes.
func secretKeys(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	for _, match := range regexp.MustCompile(
		`create secret generic (\S+)((?: --from-file=\S+)+)`).FindAllStringSubmatch(installing(t), -1) {
		for _, field := range strings.Fields(match[2]) {
			found[match[1]] = append(found[match[1]], strings.TrimPrefix(field, "--from-file="))
		}
	}
	return found
}

// requireJobs checks that a cluster's data folder is made before its pods need it, where they look for it. Each pod has
// the same name in each start.
func requireJobs(t *testing.T, m *manifest) {
	t.Helper()
	for _, set := range m.sets {
		args := set.Spec.Template.Spec.Containers[0].Args
		if args[0] == "serve" {
			continue
		}
		if !slices.Contains(args, "--node=$(POD_NAME)") {
			t.Errorf("%s: its pods have other names after each start", set.Name)
		}
		if len(m.jobs) != 1 {
			t.Fatalf("%d jobs make the data folder", len(m.jobs))
		}
		spec := m.jobs[0].Spec.Template.Spec
		c := spec.Containers[0]
		requireCommand(t, "gnocco", c.Args...)
		if c.Args[0] != "init" || !slices.Contains(args, c.Args[1]) ||
			"--data="+c.VolumeMounts[0].MountPath != c.Args[1] ||
			!m.claims[spec.Volumes[0].PersistentVolumeClaim.ClaimName] ||
			c.VolumeMounts[0].Name != spec.Volumes[0].Name {
			t.Errorf("%q does not make the folder of %s", c.Args, set.Name)
		}
	}
}

// requireContainer checks that the program knows its flags, that files which they name are mounted, and ports open.
func requireContainer(t *testing.T, m *manifest, set *appsv1.StatefulSet) {
	t.Helper()
	spec := set.Spec.Template.Spec
	if len(spec.Containers) != 1 {
		t.Fatalf("%s: %d containers", set.Name, len(spec.Containers))
	}
	c := spec.Containers[0]
	requireCommand(t, "gnocco", c.Args...)
	mounted := make(map[string][]string) // by path: files of a Secret, nil where anything may be written
	for _, mount := range c.VolumeMounts {
		mounted[mount.MountPath] = nil
		for _, volume := range spec.Volumes {
			if claim := volume.PersistentVolumeClaim; claim != nil && !m.claims[claim.ClaimName] {
				t.Errorf("%s: no claim %s", set.Name, claim.ClaimName)
			}
			if volume.Name == mount.Name && volume.Secret != nil {
				if mounted[mount.MountPath] = secretKeys(t)[volume.Secret.SecretName]; mounted[mount.MountPath] == nil {
					t.Errorf("%s: nobody says how to make the Secret %s", set.Name, volume.Secret.SecretName)
				}
			}
		}
	}
	used := make(map[string]bool)
	var ports []int32
	for _, arg := range c.Args[1:] {
		flag, value, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(value, "/") {
			folder := value
			if flag != "--data" {
				folder = path.Dir(value)
			}
			files, ok := mounted[folder]
			if !ok || flag != "--data" && !slices.Contains(files, path.Base(value)) {
				t.Errorf("%s: %s is not mounted", set.Name, arg)
			}
			used[folder] = true
		}
		if _, port, err := net.SplitHostPort(value); err == nil {
			var number int32
			fmt.Sscan(port, &number)
			if ports = append(ports, number); !listens(set, number) {
				t.Errorf("%s: %s is no port of the container", set.Name, arg)
			}
		}
	}
	for folder := range mounted {
		if !used[folder] {
			t.Errorf("%s: no flag names what is mounted on %s", set.Name, folder)
		}
	}
	for _, port := range c.Ports {
		if !slices.Contains(ports, port.ContainerPort) {
			t.Errorf("%s: no flag opens port %d", set.Name, port.ContainerPort)
		}
	}
	ready, live := c.ReadinessProbe, c.LivenessProbe
	if ready == nil || ready.HTTPGet.Path != "/ready" || live == nil || live.HTTPGet.Path != "/live" {
		t.Errorf("%s is not asked whether it is ready, and whether it lives", c.Name)
	}
	if advertised := slices.Contains(c.Args,
		"--peer-advertise=$(POD_NAME).gnocco-peers.gnocco.svc:8042"); advertised != listens(set, 8042) ||
		advertised && (set.Spec.ServiceName != "gnocco-peers" || set.Namespace != "gnocco") {
		t.Errorf("%s: pods are not found under the names of their certificate", set.Name)
	}
	if !slices.ContainsFunc(m.services, func(s *corev1.Service) bool {
		return s.Name == set.Spec.ServiceName &&
			slices.Contains(m.selected(t, &metav1.LabelSelector{MatchLabels: s.Spec.Selector}), set)
	}) {
		t.Errorf("%s: no service %s", set.Name, set.Spec.ServiceName)
	}
}

// dns is where names are asked for.
const dns = `[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}}]`

// requirePolicies checks that clients and peers are let through to a set's pods, the pods to peers and DNS, and nothing
// else.
func requirePolicies(t *testing.T, m *manifest, set *appsv1.StatefulSet) {
	t.Helper()
	const peers = `[{"podSelector":{"matchLabels":{"gnocco":"peer"}}}]`
	want := make(map[string]string)
	for _, port := range set.Spec.Template.Spec.Containers[0].Ports {
		if port.Name == "peers" {
			want[fmt.Sprint("from ", port.ContainerPort, " TCP")], want[fmt.Sprint("to ", port.ContainerPort,
				" TCP")] = peers, peers
			want["to 53 UDP"], want["to 53 TCP"] = dns, dns
		} else {
			want[fmt.Sprint("from ", port.ContainerPort, " TCP")] = `[{"namespaceSelector":{}}]`
		}
	}
	got, restricted := allowed(t, m, set)
	if len(restricted) != 2 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: restricted %v, allowed %v\nwant %v", set.Name, restricted, got, want)
	}
	if _, peer := want["to 53 UDP"]; peer != (set.Spec.Template.Labels["gnocco"] == "peer") {
		t.Errorf("%s: other pods count as peers", set.Name)
	}
}

// allowed returns who may come to which of a set's pods' ports, and where they may go; and the directions that are
// restricted.
func allowed(t *testing.T, m *manifest, set *appsv1.StatefulSet) (map[string]string, map[networkingv1.PolicyType]bool) {
	t.Helper()
	found, restricted := make(map[string]string), make(map[networkingv1.PolicyType]bool)
	add := func(way string, ports []networkingv1.NetworkPolicyPort, others []networkingv1.NetworkPolicyPeer) {
		text, err := yaml.Marshal(others)
		if err == nil {
			text, err = yaml.YAMLToJSON(text)
		}
		if err != nil || len(ports) == 0 || len(others) == 0 {
			t.Fatalf("%s: a rule for all ports or all addresses (%v)", set.Name, err)
		}
		for _, port := range ports {
			protocol := corev1.ProtocolTCP
			if port.Protocol != nil {
				protocol = *port.Protocol
			}
			found[fmt.Sprint(way, " ", port.Port.String(), " ", protocol)] += string(text)
		}
	}
	for _, p := range m.policies {
		if !slices.Contains(m.selected(t, &p.Spec.PodSelector), set) {
			continue
		}
		for _, kind := range p.Spec.PolicyTypes {
			restricted[kind] = true
		}
		for _, rule := range p.Spec.Ingress {
			add("from", rule.Ports, rule.From)
		}
		for _, rule := range p.Spec.Egress {
			add("to", rule.Ports, rule.To)
		}
	}
	return found, restricted
}

// The rules that a site adds open Keystone to APIs, one pod included, and etcd to peers.
func TestEgress(t *testing.T) {
	const keystone, etcd = `[{"ipBlock":{"cidr":"192.0.2.10/32"}}]`, `[{"ipBlock":{"cidr":"192.0.2.20/32"}}]`
	for _, file := range []string{"one/gnocco.yaml", "cluster/gnocco.yaml"} {
		m, added := readFiles(t, file), readFiles(t, "egress.yaml")
		m.policies = added.policies
		for _, set := range m.sets {
			want := map[string]string{}
			if set.Name != "gnocco-metricd" {
				want["to 5000 TCP"], want["to 53 UDP"], want["to 53 TCP"] = keystone, dns, dns
			}
			if set.Name != "gnocco" {
				want["to 2379 TCP"] = etcd
			}
			if got, _ := allowed(t, m, set); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %v, want %v", set.Name, got, want)
			}
		}
	}
}
