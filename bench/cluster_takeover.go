package bench

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// clusterHandover is how long sacks can't be read while nothing changes, a second metricd comes, and it leaves again.
func (o *Options) clusterHandover(ctx context.Context, _ ClusterOptions) error {
	return o.withReaders(ctx, 1, nil, func(p *processes, r *readers) error {
		var other *member
		for _, step := range []struct {
			name string
			do   func() error
		}{
			{"steady", func() error { time.Sleep(time.Second); return nil }},
			{"join", func() error {
				if err := p.startMetricd(ctx, 1); err != nil {
					return err
				}
				other = p.metricd[1]
				return nil
			}},
			{"leave", func() error { p.forget(other); _, err := other.stop(); return err }},
		} {
			longest, err := r.during(ctx, step.do)
			if err != nil {
				return err
			}
			if err := o.Report.Add("Cluster/handover="+step.name, benchSacks,
				unavailable(longest, nil)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// clusterTakeover is how long the sacks of a metricd that is killed can't be read.
func (o *Options) clusterTakeover(ctx context.Context, _ ClusterOptions) error {
	return o.withReaders(ctx, 2, nil, func(p *processes, r *readers) error {
		return o.lose(ctx, p, r, "takeover=killed", func(victim *member) error { victim.kill(); return nil })
	})
}

// clusterStall is how long the sacks of a metricd that stands still can't be read, as if its machine were cut off. When
// it goes on it must end, having lost its lease.
func (o *Options) clusterStall(ctx context.Context, what ClusterOptions) error {
	lease := []string{"--lease-ttl", what.LeaseTTL.String(), "--lease-slack", what.LeaseSlack.String()}
	return o.withReaders(ctx, 2, lease, func(p *processes, r *readers) error {
		var stalled *member
		name := fmt.Sprintf("takeover=stalled/ttl=%s/slack=%s", what.LeaseTTL, what.LeaseSlack)
		err := o.lose(ctx, p, r, name, func(victim *member) error {
			stalled = victim
			return victim.cmd.Process.Signal(syscall.SIGSTOP)
		})
		if err != nil {
			return err
		}
		if err := stalled.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			return err
		}
		select {
		case <-stalled.done:
		case <-time.After(startWait):
			stalled.kill()
			return fmt.Errorf("a process that lost its lease goes on")
		}
		const exitFenced = 3
		if code := stalled.cmd.ProcessState.ExitCode(); code != exitFenced {
			return fmt.Errorf("a process that lost its lease ended with status %d\n%s", code, stalled.lastWords())
		}
		return nil
	})
}

// lose measures how long the sacks of the last metricd can't be read when something happens to it.
func (o *Options) lose(ctx context.Context, p *processes, r *readers, name string,
	happens func(victim *member) error) error {
	victim := p.metricd[len(p.metricd)-1]
	sacks, err := p.sacksOf(ctx)
	if err != nil {
		return err
	}
	longest, err := r.during(ctx, func() error { return happens(victim) })
	if err != nil {
		return err
	}
	p.forget(victim)
	return o.Report.Add("Cluster/"+name, len(sacks[victim.id]), unavailable(longest, sacks[victim.id])...)
}

// withReaders runs f beside a process of the API, some of metricd, and readers of all sacks.
func (o *Options) withReaders(ctx context.Context, metricd int, args []string,
	f func(*processes, *readers) error) error {
	p, err := o.startProcesses(ctx, "api", args...)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.startMetricd(ctx, metricd); err != nil {
		return err
	}
	r, err := p.startReaders(ctx)
	if err != nil {
		return err
	}
	defer r.close()
	if _, err := r.during(ctx, func() error { return nil }); err != nil { // until all answer
		return err
	}
	return f(p, r)
}
