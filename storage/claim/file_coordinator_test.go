package claim_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/claimtest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// join makes a member of the data folder root, until the test ends.
func join(t *testing.T, root, node string, options claim.Options) claim.Session {
	t.Helper()
	coordinator, err := claim.NewFile(root, options)
	fatal.If(t, err)
	return claimtest.Join(t, coordinator, node)
}

func TestFile(t *testing.T) {
	root := t.TempDir()
	claimtest.Run(t, root, func() claim.Coordinator {
		coordinator, err := claim.NewFile(root, claim.Options{})
		fatal.If(t, err)
		return coordinator
	})
}
