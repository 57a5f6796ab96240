package records

import (
	"encoding/binary"
	"fmt"
	"unique"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// ErrCorrupt is a storage.ErrCorrupt.
var ErrCorrupt = fmt.Errorf("index: %w", storage.ErrCorrupt)

const (
	metricVersion = 1

	flagDeleted       = 1 << 0
	flagResource      = 1 << 1
	flagSchemaPending = 1 << 2
	flagLabels        = 1 << 3
	flagType          = 1 << 4
	flagReplicas      = 1 << 5
	flagsKnown        = flagDeleted | flagResource | flagSchemaPending | flagLabels | flagType | flagReplicas
)

// AppendMetric appends the value of m's key: version, flags, resource ID if any, then policy name, name, unit,
// creator, labels if any and type if any, each after its length. The ID is in the key; Pebble checksums what it stores.
func AppendMetric(dst []byte, m *model.Metric) []byte {
	var flags byte
	for i, is := range [...]bool{m.Deleted, m.ResourceID != nil, m.OwnSchemaPending, m.Labels != "", m.Type != "",
		m.Replicas} {
		if is {
			flags |= 1 << i
		}
	}
	dst = append(dst, metricVersion, flags)
	if m.ResourceID != nil {
		dst = append(dst, m.ResourceID[:]...)
	}
	for _, s := range [...]string{m.ArchivePolicy.Name, m.Name, m.Unit, m.Creator} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	if m.Labels != "" {
		dst = append(binary.AppendUvarint(dst, uint64(len(m.Labels))), m.Labels...)
	}
	if m.Type != "" {
		dst = append(binary.AppendUvarint(dst, uint64(len(m.Type))), m.Type...)
	}
	return dst
}

// DecodeMetric is the inverse; policy finds an archive policy by its name. It keeps nothing of src.
func DecodeMetric(id uuid.UUID, src []byte, policy func(name []byte) *model.ArchivePolicy) (*model.Metric, error) {
	corrupt := func(what string) (*model.Metric, error) {
		return nil, fmt.Errorf("%w: metric %s: %s", ErrCorrupt, id, what)
	}
	if len(src) < 2 || src[0] != metricVersion {
		return corrupt("unknown version")
	}
	flags := src[1]
	if flags&^flagsKnown != 0 {
		return corrupt("unknown flags")
	}
	src = src[2:]
	m := &model.Metric{ID: id, Deleted: flags&flagDeleted != 0, OwnSchemaPending: flags&flagSchemaPending != 0,
		Replicas: flags&flagReplicas != 0}
	if flags&flagResource != 0 {
		if len(src) < len(uuid.UUID{}) {
			return corrupt("truncated")
		}
		resource := uuid.UUID(src[:len(uuid.UUID{})])
		m.ResourceID = &resource
		src = src[len(resource):]
	}
	fields := make([][]byte, 4, 6)
	for _, more := range [...]byte{flagLabels, flagType} {
		if flags&more != 0 {
			fields = fields[:len(fields)+1]
		}
	}
	for i := range fields {
		n, width := binary.Uvarint(src)
		if width <= 0 || n > uint64(len(src)-width) {
			return corrupt("truncated")
		}
		fields[i] = src[width : width+int(n)]
		src = src[width+int(n):]
	}
	if len(src) > 0 {
		return corrupt("bytes left over")
	}
	if m.ArchivePolicy = policy(fields[0]); m.ArchivePolicy == nil {
		return corrupt(fmt.Sprintf("its archive policy %q does not exist", fields[0]))
	}
	m.Name, m.Unit, m.Creator = Shared(Text(fields[1])), Shared(Text(fields[2])), Shared(Text(fields[3]))
	if flags&flagType != 0 {
		t, err := model.ParseSeriesType(Text(fields[len(fields)-1]))
		if err != nil {
			return corrupt("unknown type")
		}
		m.Type = t
	}
	if flags&flagLabels != 0 {
		if m.Labels = model.Labels(fields[4]); m.Labels == "" || !m.Labels.Valid() {
			return corrupt("its labels are none")
		}
	}
	return m, nil
}

// Shared returns a copy of text that all have in common who asked for the same: thousands of metrics have one name, and
// what is cached of them should not hold it thousands of times.
func Shared(text string) string {
	if text == "" {
		return ""
	}
	return unique.Make(text).Value()
}
