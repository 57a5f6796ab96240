package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/cmd/shared"
	"github.com/gnocco-db/gnocco/internal/client"
)

// selectedRestore puts metrics of a backup into a server that runs.
type selectedRestore struct {
	selectors []string
	remote    remoteFlags
}

// addTo lets a command that restores whole folders do this as well.
func (r *selectedRestore) addTo(cmd *cobra.Command) *cobra.Command {
	whole := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(r.selectors) == 0 {
			return whole(cmd, args)
		}
		if err := r.run(cmd); err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		return nil
	}
	cmd.Long += `

With --select it puts metrics of a backup into the server at --url while that serves, as gnocco import
archive does. Metrics that have other measures there are refused: delete them first. The whole
backup is restored into a temporary folder meanwhile, below TMPDIR.`
	cmd.Example += `
  gnocco restore --from /mnt/backup/gnocco --select house/outside --select '{project_id="p"}'`
	flags := cmd.Flags()
	flags.StringArrayVar(&r.selectors, "select", nil,
		"put these metrics into the server at --url: a name, RESOURCE/NAME, an ID, or a selector in PromQL")
	r.remote.Define(flags, defaultURL, "with --select, address of the server")
	for _, other := range []string{"data", "list", "verify"} {
		cmd.MarkFlagsMutuallyExclusive("select", other)
	}
	return cmd
}

func (r *selectedRestore) run(cmd *cobra.Command) (err error) {
	ctx := cmd.Context()
	to, err := r.remote.Client()
	if err != nil {
		return err
	}
	if _, err := to.ArchivePolicies(ctx); err != nil { // before much is read
		return err
	}
	dir, err := os.MkdirTemp("", "gnocco-restore-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data := filepath.Join(dir, "data")
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{cmd.Name(), "--data=" + data, "--state=" + filepath.Join(dir, "state")}
	for _, name := range []string{"from", "backup", "partial", shared.IdentityFlag} {
		if value := cmd.Flags().Lookup(name).Value.String(); value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	whole := exec.CommandContext(ctx, self, args...)
	whole.Stdout, whole.Stderr = cmd.ErrOrStderr(), cmd.ErrOrStderr()
	var partly error
	if err := whole.Run(); whole.ProcessState != nil && whole.ProcessState.ExitCode() == exitRejected {
		partly = exitStatus{exitRejected, err} // it has said what is damaged
	} else if err != nil {
		return err
	}
	err = serveMeanwhile(ctx, dir, data, func(from *client.Client) error {
		found, err := find(ctx, from, r.selectors)
		if err != nil {
			return err
		}
		return copyArchives(ctx, from, to, found, cmd.ErrOrStderr())
	})
	return cmp.Or(err, partly)
}

// serveMeanwhile serves a data folder until use returns, to nobody else.
func serveMeanwhile(ctx context.Context, dir, data string, use func(*client.Client) error) (err error) {
	password := rand.Text()
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		return err
	}
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte("admin:"+string(hash)+"\n"), 0o600); err != nil {
		return err
	}
	var flags serverFlags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.define(set, data)
	err = set.Parse([]string{"--state=" + filepath.Join(dir, "state"), "--listen=127.0.0.1:0", "--auth-mode=htpasswd",
		"--htpasswd-file=" + users, "--gpu=off", "--log-level=error"})
	if err != nil {
		return err
	}
	s, err := flags.start(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	from, err := client.New(s.URL(), client.Options{User: "admin", Password: password})
	if err != nil {
		return err
	}
	return use(from)
}

// copyArchives exports metrics of one server into another.
func copyArchives(ctx context.Context, from, to *client.Client, found []*foundSeries, report io.Writer) error {
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
