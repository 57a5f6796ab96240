package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/shared/commandline"
	"github.com/gnocco-db/gnocco/cmd/shared/process"
	"github.com/gnocco-db/gnocco/cmd/shared/remote"
	"github.com/gnocco-db/gnocco/internal/client"
)

// newRestore returns the command that gnocco restore becomes with --select. It puts metrics of a backup into a server
// that runs. gnocco restore has read the command line before, and has the help.
func newRestore() *cobra.Command {
	var selectors []string
	var to remote.Flags
	cmd := &cobra.Command{
		Use:               "restore",
		Hidden:            true,
		PersistentPreRunE: commandline.ApplySettings, // gnocco has warned of variables
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := restoreSelected(cmd, &to, selectors); err != nil {
				return fmt.Errorf("restore: %w", err)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	for _, name := range whichBackup {
		flags.String(name, "", "as of gnocco restore")
	}
	flags.Bool("partial", false, "as of gnocco restore")
	flags.StringArrayVar(&selectors, "select", nil, "these metrics")
	to.Define(flags, remote.DefaultURL, "address of the server")
	cmd.FParseErrWhitelist.UnknownFlags = true // those of a restore of whole folders
	return cmd
}

// whichBackup are the flags of gnocco restore that say what is restored.
var whichBackup = []string{"from", "backup", "identity"}

// restoreSelected restores the whole backup into a temporary folder, and copies metrics out of it.
func restoreSelected(cmd *cobra.Command, address *remote.Flags, selectors []string) (err error) {
	ctx := cmd.Context()
	to, err := address.Client()
	if err != nil {
		return err
	}
	if _, err := to.ArchivePolicies(ctx); err != nil { // before much is read
		return err
	}
	program, err := process.Find("gnocco")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gnocco-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	folders := []string{"--data=" + filepath.Join(dir, "data"), "--state=" + filepath.Join(dir, "state")}
	whole := exec.CommandContext(ctx, program, append([]string{"restore"}, folders...)...)
	for _, name := range append(whichBackup, "partial") {
		if value := cmd.Flags().Lookup(name).Value.String(); value != "" {
			whole.Args = append(whole.Args, "--"+name+"="+value)
		}
	}
	whole.Stdout, whole.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	var partly error
	if err := whole.Run(); whole.ProcessState != nil && whole.ProcessState.ExitCode() == exitIncomplete {
		partly = partlyRestored{err} // it has said what is damaged
	} else if err != nil {
		return err
	}
	err = serveMeanwhile(exec.Command(program, append([]string{"serve"}, folders...)...), dir,
		func(from *client.Client) error {
			found, err := series.Find(ctx, from, selectors)
			if err != nil {
				return err
			}
			return copyArchives(ctx, from, to, found, cmd.ErrOrStderr())
		})
	return cmp.Or(err, partly)
}

// partlyRestored is the error of a backup that was not whole. All else was done.
type partlyRestored struct{ error }

// serveMeanwhile runs a server until use returns, for nobody else. The file of its user goes into dir.
func serveMeanwhile(server *exec.Cmd, dir string, use func(*client.Client) error) (err error) {
	password := rand.Text()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte("admin:"+string(hash)+"\n"), 0o600); err != nil {
		return err
	}
	server.Args = append(server.Args, "--listen=127.0.0.1:0", "--auth-mode=htpasswd", "--htpasswd-file="+users,
		"--gpu=off", "--log-level=error")
	server.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GNOCCO_") })
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Wait()) }()
	console, err := bufio.NewReader(out).ReadString('\n') // once it serves
	if err != nil {
		return errors.New("the restored folder's server ended before it served")
	}
	defer func() { _ = server.Process.Signal(syscall.SIGTERM) }() // if it has ended already, Wait says how
	from, err := client.New(strings.TrimSuffix(console, "/ui/\n"), client.Options{User: "admin", Password: password})
	if err != nil {
		return err
	}
	return use(from)
}

// copyArchives exports metrics of one server into another.
func copyArchives(ctx context.Context, from, to *client.Client, found []*series.Series, report io.Writer) error {
	read, write := io.Pipe()
	go func() {
		e, err := exportArchives(ctx, from, write, len(found), false)
		for at := 0; err == nil && at < len(found); at++ {
			err = e.metric(ctx, found[at])
		}
		write.CloseWithError(err)
	}()
	err := importArchives(ctx, to, read, "the backup", report)
	return cmp.Or(err, read.CloseWithError(err))
}
