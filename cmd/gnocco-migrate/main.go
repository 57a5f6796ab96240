package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-migrate/internal/gnocchiconf"
	"github.com/gnocco-db/gnocco/cmd/shared/licenses"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/internal/keystone"
	"github.com/gnocco-db/gnocco/internal/version"
)

//go:generate go run github.com/gnocco-db/gnocco/tools/licenses -of . -o licenses.txt

// licensesOfParts are those of all modules that this program is linked from.
//
//go:embed licenses.txt
var licensesOfParts string

// access is the user that the program asks a server as, and how often it may ask.
type access struct {
	user, password, token string
	keystoneURL           string
	account               keystone.Account
	rate                  float64 // requests a second; 0: no limit
}

// askKeystone has tokens asked for with the account that the environment names, if it names one.
func (a *access) askKeystone(getenv func(string) string) {
	if address, account, ok := keystone.FromEnvironment(getenv); ok {
		a.keystoneURL, a.account = address, account
	}
}

// flags are the command's.
type flags struct {
	from, fromConfig, to           string
	user, passwordFile, token      string
	toURL, toUser, toPasswordFile  string
	report, signer                 string
	dryRun, resume, follow, verify bool
	workers, sacks, sample         int
	rate                           float64
	lag                            time.Duration
}

var (
	errDiffers = errors.New("the two servers differ")           // of a verification
	errRefused = errors.New("some definitions were not copied") // of a pass that is complete otherwise
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := programOf(os.Args[0], os.Args[1:])
	if err := program.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program.Name(), err)
		if errors.Is(err, errDiffers) || errors.Is(err, errRefused) {
			os.Exit(2)
		}
		os.Exit(1)
	}
}

func newCommand() *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "gnocco-migrate {--from URL | --from-config gnocchi.conf} --to DATA",
		Short: "Copy a Gnocchi into a data folder of Gnocco",
		Long: `Copy what a Gnocchi has into a data folder of Gnocco: archive policies, rules, resource types,
resources with their history, metrics and aggregates, under the IDs that they have. The source
is only read. No server may use the folder meanwhile: until the copy is complete its name ends
in .migrating. Run again, the command copies what has changed since; a run that was killed is
continued by the next one.

With --verify, the definitions and values of the Gnocchi and of a server on the copy are compared
by their REST API, and a report is written. The exit status is 2 if they differ, or if a copy is
complete but for definitions that were refused.

The user of --from is the one of OS_AUTH_URL and the other OS_* variables unless --user or --token
is given, else admin; it has to be one that sees all resources and metrics. Passwords may also be
in GNOCCHI_PASSWORD and GNOCCO_PASSWORD.`,
		Example: `  gnocco-migrate --from http://gnocchi:8041 --dry-run
  gnocco-migrate --from http://gnocchi:8041 --to /var/lib/gnocco --follow
  gnocco-migrate --from-config /etc/gnocchi/gnocchi.conf --to /var/lib/gnocco
  gnocco-migrate --from http://gnocchi:8041 --verify --to-url http://127.0.0.1:8041 --report moved.txt`,
		Version: version.Number, Args: cobra.NoArgs, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd) },
	}
	o := cmd.Flags()
	o.StringVar(&f.from, "from", "", "address of the Gnocchi, with its prefix if it has one")
	o.StringVar(&f.fromConfig, "from-config", "", "gnocchi.conf: its database and file storage are read directly")
	o.StringVar(&f.to, "to", "", "data folder to make, or one that an earlier run made")
	o.StringVar(&f.user, "user", "", "user of basic authentication")
	o.StringVar(&f.passwordFile, "password-file", "", "file that holds the user's password")
	o.StringVar(&f.token, "token", os.Getenv("OS_TOKEN"), "Keystone token, instead of a user (default: OS_TOKEN)")
	o.Float64Var(&f.rate, "rate", 0, "most requests a second to the Gnocchi (0: no limit)")
	o.IntVar(&f.workers, "workers", 4, "how many requests are sent, or metrics read, at a time")
	o.IntVar(&f.sacks, "sacks", 0, "number of sacks of a new folder (0: the default)")
	o.BoolVar(&f.dryRun, "dry-run", false, "say what would be copied, and how long it takes, from a sample")
	o.BoolVar(&f.resume, "resume", false, "fail unless there is a run to continue")
	o.BoolVar(&f.follow, "follow", false, "copy what changes again and again, until that takes --lag at most")
	o.DurationVar(&f.lag, "lag", 10*time.Second, "when --follow ends")
	o.BoolVar(&f.verify, "verify", false, "compare --from with the server at --to-url")
	o.StringVar(&f.toURL, "to-url", "", "address of a server on the copy, for --verify")
	o.StringVar(&f.toUser, "to-user", "", "user of that server (default: the one of --from)")
	o.StringVar(&f.toPasswordFile, "to-password-file", "", "file that holds that user's password")
	o.IntVar(&f.sample, "sample", 0, "how many metrics' values --verify compares (0: all)")
	o.StringVar(&f.report, "report", "", "file for the report of --verify (default: standard output)")
	o.StringVar(&f.signer, "signer", "", "name under the report")
	o.Lookup("token").DefValue = ""
	cmd.AddCommand(newSettings(), licenses.NewCommand(licensesOfParts))
	return cmd
}

// newSettings returns the command that gnocco runs for a configuration whose name ends in .conf.
func newSettings() *cobra.Command {
	return &cobra.Command{
		Use:   "settings FILE",
		Short: "Print the settings of Gnocco that a gnocchi.conf stands for, as JSON",
		Long: `Print the settings of Gnocco that a gnocchi.conf stands for, secrets as well, and the options that are
ignored, as JSON. GNOCCO_* environment variables override the file. gnocco runs this command for
--config gnocchi.conf.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := gnocchiconf.Read(args, nil)
			if err != nil {
				return err
			}
			settings, err := file.Settings("gnocco", func(setting string) (string, bool) {
				value := os.Getenv(variable(setting))
				return value, value != ""
			})
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(settings)
		},
	}
}

func readPassword(path, variable string) (string, error) {
	if path == "" {
		return os.Getenv(variable), nil
	}
	text, err := os.ReadFile(path)
	return strings.TrimRight(string(text), "\r\n"), err
}

func (f *flags) run(ctx context.Context, cmd *cobra.Command) error {
	if (f.from == "") == (f.fromConfig == "") {
		return errors.New("give one of --from and --from-config")
	}
	if f.workers < 1 {
		return errors.New("--workers must be at least 1")
	}
	if f.verify {
		return f.compare(ctx, cmd)
	}
	s, err := f.open()
	if err != nil {
		return err
	}
	defer s.close()
	if f.dryRun {
		return estimate(ctx, s, f.workers, cmd.OutOrStdout())
	}
	if f.to == "" {
		return errors.New("give --to, or --dry-run")
	}
	if f.resume {
		if _, err := os.Stat(strings.TrimRight(f.to, "/") + stageSuffix); err != nil {
			return fmt.Errorf("there is no run to continue: %w", err)
		}
	}
	for {
		took, err := f.pass(ctx, cmd, s)
		if err != nil {
			return err
		}
		if !f.follow {
			return nil
		}
		if took <= f.lag {
			fmt.Fprintln(cmd.OutOrStdout(),
				"the copy is near: stop the writers, wait until the Gnocchi has no backlog, "+
					"and run once more without --follow")
			return nil
		}
	}
}

func (f *flags) sourceAccess() (*access, error) {
	a := &access{user: f.user, token: f.token, rate: f.rate}
	var err error
	if a.password, err = readPassword(f.passwordFile, "GNOCCHI_PASSWORD"); err != nil {
		return nil, err
	}
	if a.user == "" && a.token == "" {
		a.askKeystone(os.Getenv)
	}
	return a, nil
}

// open returns the source. With --from-config it is the database and the files.
func (f *flags) open() (source, error) {
	if f.fromConfig != "" {
		return openConfig(f.fromConfig)
	}
	a, err := f.sourceAccess()
	if err != nil {
		return nil, err
	}
	return newREST(f.from, a)
}

func (f *flags) pass(ctx context.Context, cmd *cobra.Command, s source) (time.Duration, error) {
	begun := time.Now()
	t, err := openTarget(f.to, withoutPassword(cmp.Or(f.from, f.fromConfig)), f.sacks)
	if err != nil {
		return 0, err
	}
	p := &pass{source: s, target: t, workers: f.workers, out: cmd.ErrOrStderr()}
	if err := p.run(ctx); err != nil {
		return 0, errors.Join(err, t.flush(), t.close())
	}
	took := time.Since(begun)
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "pass %d is complete after %v; %s has %.1f MB\n",
		len(t.state.Passes), took.Round(time.Millisecond), t.path, float64(t.bytes())/1e6)
	p.counts.print(out)
	if len(p.counts.Refused) > 0 {
		return took, errRefused
	}
	return took, nil
}

// compare verifies, and writes the report.
func (f *flags) compare(ctx context.Context, cmd *cobra.Command) error {
	if f.from == "" || f.toURL == "" {
		return errors.New("--verify needs --from and --to-url")
	}
	a, err := f.sourceAccess()
	if err != nil {
		return err
	}
	b := *a
	b.rate = 0
	if f.toUser != "" {
		b = access{user: f.toUser}
	}
	if password, err := readPassword(f.toPasswordFile, "GNOCCO_PASSWORD"); err != nil {
		return err
	} else if password != "" {
		b.password = password
	}
	from, err := newREST(f.from, a)
	if err != nil {
		return err
	}
	to, err := newREST(f.toURL, &b)
	if err != nil {
		return err
	}
	v := &verification{from: from, to: to, workers: f.workers, sample: f.sample, progress: cmd.ErrOrStderr()}
	if err := v.run(ctx); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.report != "" {
		file, err := os.Create(f.report)
		if err != nil {
			return err
		}
		v.report(file, f.signer)
		if err := file.Close(); err != nil {
			return err
		}
	} else {
		v.report(out, f.signer)
	}
	if v.differences() > 0 {
		return fmt.Errorf("%w: %s", errDiffers, counted.Of(v.differences(), "difference"))
	}
	return nil
}
