package records

import (
	"encoding/json"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// jsonVersion comes before the JSON of a value.
const jsonVersion = 1

func SetJSON(b *pebble.Batch, key []byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.Set(key, append([]byte{jsonVersion}, text...), nil)
}

// DecodeJSON returns a storage.ErrCorrupt if value is not of SetJSON.
func DecodeJSON(value []byte, v any) error {
	if len(value) == 0 || value[0] != jsonVersion {
		return fmt.Errorf("%w: unknown version", ErrCorrupt)
	}
	if err := json.Unmarshal(value[1:], v); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}
