package fulldisk

import (
	"errors"
	"syscall"
)

// Is reports whether an error says that a disk, or the user's or folder's quota on it, is full.
func Is(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
