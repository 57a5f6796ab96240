package peer

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

const (
	maxPollWait = 5 * time.Second
	// pollBytes bounds an answer, which may exceed it by one record.
	pollBytes = 8 << 20
)

// poll answers with an incoming store's records behind given sequences, and waits while there are none.
func (p *Process) poll(w http.ResponseWriter, r *http.Request) error {
	var request pollRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	store := p.Store(request.Store)
	if store == nil {
		return fmt.Errorf("%w: incoming store %s", ErrElsewhere, request.Store)
	}
	clock := store.Clock()
	received := clock.Now()
	for _, sacks := range [][]pollSack{request.Sacks, request.Finished} {
		for _, s := range sacks {
			if s.Sack < 0 || s.Sack >= store.Sacks() {
				return fmt.Errorf("%w: sack %d", model.ErrInvalid, s.Sack)
			}
		}
	}
	for _, s := range request.Finished {
		if err := store.Acknowledge(s.Sack, s.After); err != nil {
			return err
		}
	}
	found, damaged, err := p.drainSacks(store, request.Sacks)
	if err != nil {
		return err
	}
	if len(found)+len(damaged) == 0 && request.Wait > 0 &&
		awaitSacks(r, store, request.Sacks, min(request.Wait, maxPollWait)) {
		if found, damaged, err = p.drainSacks(store, request.Sacks); err != nil {
			return err
		}
	}
	answer := pollAnswer{records: found, lists: request.Lists, clock: clock.ID, received: received, damaged: damaged}
	for _, s := range request.Sacks {
		end := sackEnd{sack: s.Sack, last: store.Last(s.Sack)}
		// A sack that got more meanwhile has no frontier: the stamp of its last record serves as one.
		end.frontier, end.hasFrontier = store.Frontier(s.Sack, max(s.After, lastOf(found, s.Sack)))
		answer.sacks = append(answer.sacks, end)
	}
	answer.answered = clock.Now()
	out := bufio.NewWriterSize(w, 64<<10)
	if answer.write(out) == nil { // an error means that the caller is gone
		_ = out.Flush()
	}
	return nil
}

// lastOf returns the sequence of a sack's last record, 0 for none.
func lastOf(records []sackRecord, sack int) uint64 {
	for i := len(records) - 1; i >= 0; i-- {
		if records[i].sack == sack {
			return records[i].Sequence
		}
	}
	return 0
}

// drainSacks takes the records of all sacks, up to pollBytes. It asks every sack, so that the backlog is known. A sack
// whose records are damaged holds up no other.
func (p *Process) drainSacks(store *incoming.Store, sacks []pollSack) (
	found []sackRecord, damaged []damagedSack, err error) {
	left := pollBytes
	for _, s := range sacks {
		if left <= 0 {
			break
		}
		records, err := store.Poll(s.Sack, s.After, s.processed(), left)
		if err != nil && p.Unreadable != nil {
			err = p.Unreadable(store.ID(), err)
		}
		if unreadable, ok := errors.AsType[*model.DamagedError](err); ok {
			damaged = append(damaged, damagedSack{s.Sack, unreadable.Store, unreadable.Reason})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, record := range records {
			left -= len(record.Block)
			found = append(found, sackRecord{s.Sack, record})
		}
	}
	return found, damaged, nil
}

// awaitSacks waits until one of the sacks gets records, and reports whether one did.
func awaitSacks(r *http.Request, store *incoming.Store, sacks []pollSack, wait time.Duration) bool {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	cases := []reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.Context().Done())},
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(timeout.C)},
	}
	for _, s := range sacks {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(store.Ready(s.Sack))})
	}
	for {
		chosen, _, _ := reflect.Select(cases)
		if chosen < 2 {
			return false
		}
		// The token may stem from records of an earlier answer.
		if s := sacks[chosen-2]; store.Last(s.Sack) > s.After {
			return true
		}
	}
}
