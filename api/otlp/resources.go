package otlp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// instanceKeys identify the place that runs a service, where service.instance.id is missing: OpenTelemetry's
// conventions make that ID of them.
var instanceKeys = []string{"container.id", "k8s.pod.uid", "host.id", "host.name"}

// podKeys are joined by dots, as these conventions say of Kubernetes.
var podKeys = []string{"k8s.namespace.name", "k8s.pod.name", "k8s.container.name"}

// identifies reports whether an attribute of a resource decides on its job or instance.
func identifies(key string) bool {
	return strings.HasPrefix(key, "service.") || slices.Contains(instanceKeys, key) || slices.Contains(podKeys, key)
}

// jobAndInstance returns the labels of a resource: service.namespace and service.name are the job. The instance is
// service.instance.id, or else what identifies the pod, container or host.
func jobAndInstance(attributes []attribute) (job, instance string) {
	of := func(key string) string {
		for _, a := range attributes {
			if a.key == key {
				return a.value
			}
		}
		return ""
	}
	job = of("service.name")
	if namespace := of("service.namespace"); namespace != "" {
		job = namespace + "/" + job
	}
	if instance = of("service.instance.id"); instance == "" && of("k8s.pod.name") != "" {
		for _, key := range podKeys {
			if part := of(key); part != "" {
				instance += "." + part
			}
		}
		instance = instance[1:]
	}
	for _, key := range instanceKeys {
		instance = cmp.Or(instance, of(key))
	}
	return job, instance
}

// A resourceKey is the labels of a resource, and fingerprint tells its attributes from others.
type resourceKey struct{ job, instance string }

func fingerprint(sorted []attribute) keyhash.Hash {
	var text []byte
	for _, a := range sorted {
		text = append(append(append(append(text, a.key...), 0), a.value...), 0)
	}
	return keyhash.Of(text)
}

// String says that resources of one key are several.
func (k resourceKey) String() string {
	return fmt.Sprintf("resources with other attributes have the same job %.100q and instance %.100q, and their series are one: "+
		"give each of them its own service.instance.id", k.job, k.instance)
}

// resources remember the last attributes of resources, to notice two that send by turns. One that was restarted has
// other attributes once.
type resources struct {
	mu   sync.Mutex
	last map[string][2]keyhash.Hash // the newest first
}

// maxResources bounds what is remembered.
const maxResources = 10_000

// alternate reports whether a resource of a user comes again after another one with the same key.
func (r *resources) alternate(user string, key resourceKey, is keyhash.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := user + "\x00" + key.job + "\x00" + key.instance
	had, known := r.last[name]
	if had[0] == is {
		return false
	}
	if !known && len(r.last) >= maxResources {
		for other := range r.last {
			delete(r.last, other)
			break
		}
	}
	if r.last == nil {
		r.last = map[string][2]keyhash.Hash{}
	}
	r.last[name] = [2]keyhash.Hash{is, had[0]}
	return had[1] == is
}
