package carbonara

import (
	"errors"
	"fmt"
)

// ErrCorrupt is wrapped by the errors of decoders: the bytes are not what an encoder of ours wrote.
var ErrCorrupt = errors.New("corrupt")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
