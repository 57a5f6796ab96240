package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/licenses"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -of . -o licenses.txt

// licensesOfParts are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licensesOfParts string

// exitRejected is the status where all was done, but for some metrics.
const exitRejected = 2

func main() {
	err := newRoot().ExecuteContext(process.UntilSignal())
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "gnocco:", series.Message(err))
	if advice := remote.Advice(err); advice != "" {
		fmt.Fprintln(os.Stderr, "gnocco:", advice)
	}
	if errors.As(err, new(rejected)) {
		os.Exit(exitRejected)
	}
	os.Exit(1)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   commandline.Name(),
		Short: "Ask a Gnocco server; gnocco runs this program for its commands that do",
		Long: `Ask a Gnocco server, on this machine or, with --url, on another one: the commands of gnocco that need
nothing else.

Every flag can also be set by an environment variable (GNOCCO_URL for --url) or in a configuration file,
TOML or YAML by its ending. Flags override the environment, and the environment overrides the file.`,
	}
	config := commandline.NewConfig()
	config.Hidden = true // gnocco config becomes it for commands of this program
	root.AddCommand(newList(), newShow(), newQuery(), newExplain(), newDelete(), newRebuild(), newStatus(), newTop(),
		newQuotas(), newRules(), newSize(), config, licenses.NewCommand(licensesOfParts))
	commandline.Prepare(root)
	return root
}

// rejected is an error about some metrics, after all others were done.
type rejected struct{ error }
