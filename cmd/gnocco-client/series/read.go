package series

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
)

// A moment is the text of a time. Four digits are a year, and not seconds since 1970; now-1h is -1h.
type moment struct {
	*string
	begins bool // nothing before it is read
}

// DefineTime defines a flag that takes a time.
func DefineTime(flags *pflag.FlagSet, p *string, name, value, usage string) {
	*p = value
	flags.Var(moment{p, name != "stop"}, name, usage)
}

func (m moment) String() string {
	if m.string == nil { // pflag asks a zero one whether a default is to be shown
		return ""
	}
	return *m.string
}

func (m moment) Type() string { return "string" }

// Set implements pflag.Value.
func (m moment) Set(text string) error {
	now := carbonara.FromTime(time.Now())
	if year, err := time.Parse("2006", text); err == nil {
		text = year.Format(time.RFC3339)
	} else if after, ok := strings.CutPrefix(text, "now"); ok && after != "" {
		text = after
	} else if text == "yesterday" {
		text = now.Time().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	}
	at, err := model.ParseTimestamp(text, now)
	if text != "" && err != nil {
		return errors.New("write 2026-11-30T08:20, 2026-11-30, 2026, yesterday, -1h, or seconds since 1970")
	}
	if m.begins && text != "" && at > now {
		when := at.Time().UTC().Format("2006-01-02T15:04:05Z")
		if _, err := model.ParseTimespan(text); err == nil && text[0] != '+' {
			return fmt.Errorf("that is in the future, %s: write -%s for the past, or +%s", when, text, text)
		}
		fmt.Fprintf(os.Stderr, "%s is in the future: only forecasts are there\n", when)
	}
	*m.string = text
	return nil
}

// CheckSpan returns an error for a span that ends before it begins: a server has nothing there. Either may be empty.
func CheckSpan(start, stop string) error {
	now := carbonara.FromTime(time.Now())
	from, err := model.ParseTimestamp(start, now)
	to, errOfStop := model.ParseTimestamp(stop, now)
	if err == nil && errOfStop == nil && start != "" && stop != "" && to <= from {
		return fmt.Errorf("--stop must be later than --start: %s is not later than %s", stop, start)
	}
	return nil
}

// ReadFlags say which aggregates are read.
type ReadFlags struct{ Start, Stop, Method, Granularity string }

// Define defines the flags. start is the default of --start.
func (f *ReadFlags) Define(flags *pflag.FlagSet, start string) {
	DefineTime(flags, &f.Start, "start", start, "from this time on: a date and time, a year, seconds since 1970, or -1d")
	flags.Var(&since{start: &f.Start}, "since", "from so long ago on, such as 1d: the same as --start -1d")
	DefineTime(flags, &f.Stop, "stop", "", "before this time (default: all)")
	flags.StringVar(&f.Method, "aggregation", "", "aggregation method (default: mean, else last, else the policy's first)")
	flags.StringVar(&f.Granularity, "granularity", "", "granularity, such as 1h (default: the policy's finest)")
}

// since is a time so long ago.
type since struct {
	text  string
	start *string
}

func (s *since) String() string { return s.text }
func (s *since) Type() string   { return "func" }

// Set implements pflag.Value.
func (s *since) Set(text string) error {
	span := strings.TrimPrefix(text, "-")
	if _, err := model.ParseTimespan(span); err != nil {
		return errors.New("write 90s, 15m, 1h or 7d")
	}
	s.text, *s.start = text, "-"+span
	return nil
}

// Row takes an aggregate: its time, also as the server writes it, and its value.
type Row = func(at carbonara.Timestamp, text string, value float64) error

// Reader reads aggregates from a server.
type Reader struct {
	client   *client.Client
	flags    *ReadFlags
	policies map[string]*client.ArchivePolicy
}

// NewReader returns a reader that knows the server's archive policies.
func NewReader(ctx context.Context, c *client.Client, flags *ReadFlags) (*Reader, error) {
	if err := CheckSpan(flags.Start, flags.Stop); err != nil {
		return nil, err
	}
	all, err := c.ArchivePolicies(ctx)
	r := &Reader{c, flags, make(map[string]*client.ArchivePolicy)}
	for i := range all {
		r.policies[all[i].Name] = &all[i]
	}
	return r, err
}

// Method returns the aggregation method by which a metric is read.
func (r *Reader) Method(s *Series) (string, error) {
	if r.flags.Method != "" {
		return r.flags.Method, nil
	}
	policy := r.policies[s.Policy]
	if policy == nil {
		return "mean", nil
	}
	for _, method := range []string{"mean", "last"} {
		if slices.Contains(policy.Methods, method) {
			return method, nil
		}
	}
	if len(policy.Methods) == 0 {
		return "", fmt.Errorf("%s: its archive policy %s has no aggregation method", s.String(), s.Policy)
	}
	return policy.Methods[0], nil
}

// AllGranularities is --granularity of all those of a metric's policy.
const AllGranularities = "all"

// Granularities returns those by which a metric is read, ascending: the finest of its policy, unless the flags say
// otherwise.
func (r *Reader) Granularities(s *Series) (list []time.Duration, err error) {
	if wanted := r.flags.Granularity; wanted != "" && wanted != AllGranularities {
		granularity, err := model.ParseTimespan(wanted)
		if err != nil {
			return nil, fmt.Errorf("--granularity %q: %w", wanted, err)
		}
		return []time.Duration{granularity}, nil
	}
	if policy := r.policies[s.Policy]; policy != nil {
		for _, item := range policy.Definition {
			granularity, err := model.ParseTimespan(item.Granularity)
			if err != nil {
				return nil, err
			}
			list = append(list, granularity)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: its archive policy %s is not known", s.String(), s.Policy)
	}
	slices.Sort(list)
	if r.flags.Granularity == "" {
		list = list[:1]
	}
	return list, nil
}

// Aggregates calls row with each aggregate of a metric at its finest granularity, or the one that the flags say.
func (r *Reader) Aggregates(ctx context.Context, s *Series, row Row) error {
	list, err := r.Granularities(s)
	if err != nil {
		return err
	}
	return r.Each(ctx, s, list[0], row)
}

// Each calls row with each aggregate of a metric, as they arrive.
func (r *Reader) Each(ctx context.Context, s *Series, granularity time.Duration, row Row) error {
	method, err := r.Method(s)
	if err != nil {
		return err
	}
	query := url.Values{"aggregation": {method}, "refresh": {"true"},
		"granularity": {strconv.FormatFloat(granularity.Seconds(), 'f', -1, 64)}}
	for key, value := range map[string]string{"start": r.flags.Start, "stop": r.flags.Stop} {
		if value != "" {
			query.Set(key, value)
		}
	}
	err = r.client.GetText(ctx, "/v1/metric/"+s.ID+"/measures?"+query.Encode(), "text/csv", func(body io.Reader) error {
		lines := csv.NewReader(body)
		lines.ReuseRecord = true
		if _, err := lines.Read(); err != nil {
			return err
		}
		for {
			fields, err := lines.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			at, ok := model.ParseISO(fields[0])
			value, err := strconv.ParseFloat(fields[2], 64)
			if !ok || err != nil {
				return fmt.Errorf("the server answered %q", fields)
			}
			if err := row(at, fields[0], value); err != nil {
				return err
			}
		}
	})
	var answer *client.StatusError
	policy := r.policies[s.Policy]
	if policy != nil && errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		var kept []string
		for _, item := range policy.Definition {
			kept = append(kept, ShortSpan(item.Granularity))
		}
		return fmt.Errorf("no %s of %s: archive policy %s keeps %s of %s", method, granularity, s.Policy,
			strings.Join(policy.Methods, ", "), strings.Join(kept, ", "))
	}
	return err
}

// SpanText is a timespan in the largest unit that divides it, such as 90m or 365d.
func SpanText(d time.Duration) string {
	for _, unit := range []struct {
		width time.Duration
		name  string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d >= unit.width && d%unit.width == 0 {
			return strconv.FormatInt(int64(d/unit.width), 10) + unit.name
		}
	}
	return d.String()
}

// ShortSpan is SpanText of a timespan as a server writes it.
func ShortSpan(text string) string {
	if d, err := model.ParseTimespan(text); err == nil {
		return SpanText(d)
	}
	return text
}
