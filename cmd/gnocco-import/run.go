package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/imports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/csvimport"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/reading"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// errIncomplete ends an import after which the server does not have all that the files hold.
var errIncomplete = errors.New("the archives do not have all measures of the files, each by itself")

// run reads the files, each by read, and sends their measures.
func run(cmd *cobra.Command, flags *imports.Options, files []string,
	read func(*csvimport.Importer, string, io.Reader) error) (err error) {
	ctx, stdin, stderr := cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr()
	o := csvimport.Options{Options: *flags}
	c, err := o.Remote.Client()
	if err != nil {
		return err
	}
	o.Client = requests.New(c)
	shown := reading.New(stderr, reading.TotalBytes(files...))
	defer shown.Close()
	reports := 0
	o.Reject = func(file string, line int, reason string) {
		if reports++; reports <= o.MaxReports {
			shown.Print(fmt.Sprintf("%s:%d: %s", file, line, reason))
		} else if reports == o.MaxReports+1 {
			shown.Print("further rejected lines are only counted")
		}
	}
	o.Note = shown.Print
	started := time.Now()
	importer, err := csvimport.New(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, importer.Close()) }()
	for _, file := range files {
		if err = importFile(importer, file, stdin, shown, read); err != nil {
			return err
		}
	}
	if err = importer.Plan(ctx); err != nil {
		return err
	}
	result := importer.Result()
	if o.DryRun {
		shown.Print("dry run: stopped before sending")
	} else {
		if result, err = importer.Send(ctx); err != nil {
			return err
		}
		importer.NoteKept()
		shown.Close()
		reportImport(stderr, &result, time.Since(started))
	}
	if !result.Whole() {
		return errIncomplete
	}
	return nil
}

// reportImport prints what an import did.
func reportImport(w io.Writer, r *csvimport.Result, took time.Duration) {
	if r.Older > 0 {
		fmt.Fprintf(w, "%s older than the back window went in as history\n", counted.Of(r.Older, "measure"))
	}
	fmt.Fprintf(w, "sent %s of %s from %s in %.1f s (%.0f/s); rejected %d, "+
		"dropped by the server %d, refused %d\n",
		counted.Of(r.Measures, "measure"), counted.Of(r.Metrics, "metric"), counted.Of(r.Files, "file"),
		took.Seconds(), float64(r.Measures)/took.Seconds(), r.Rejected, r.Dropped,
		r.Refused)
	if r.Groups > 0 || r.Occupied > 0 {
		fmt.Fprintf(w, "put %s of aggregates; left %s as before, in which metrics have other measures\n",
			counted.Of(r.Groups, "group"), counted.Of(r.Occupied, "period"))
	}
}

func importFile(importer *csvimport.Importer, name string, stdin io.Reader, shown *reading.Progress,
	read func(*csvimport.Importer, string, io.Reader) error) error {
	source := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		source = file
	}
	return read(importer, name, io.TeeReader(source, shown))
}
