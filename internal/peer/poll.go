package peer

import (
	"bufio"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"gnocco/model"
	"gnocco/storage/incoming"
)

const (
	maxPollWait = 5 * time.Second
	// pollBytes bounds an answer: what one sack has may exceed it by a record.
	pollBytes = 8 << 20
)

// poll answers what an incoming store has behind given sequences, and waits for it if there is nothing.
func (p *Process) poll(w http.ResponseWriter, r *http.Request) error {
	var request pollRequest
	if err := readJSON(r, &request); err != nil {
		return err
	}
	store := p.Store(request.Store)
	if store == nil {
		return fmt.Errorf("%w: incoming store %s", ErrElsewhere, request.Store)
	}
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
	found, err := drainSacks(store, request.Sacks)
	if err != nil {
		return err
	}
	if len(found) == 0 && request.Wait > 0 && awaitSacks(r, store, request.Sacks, min(request.Wait, maxPollWait)) {
		if found, err = drainSacks(store, request.Sacks); err != nil {
			return err
		}
	}
	// From here on an error means that who asked is gone.
	out := bufio.NewWriterSize(w, 64<<10)
	for _, f := range found {
		for _, record := range f.records {
			_ = writeRecord(out, f.sack, record)
		}
	}
	_ = writeEnd(out)
	for _, s := range request.Sacks {
		_ = writeLast(out, s.Sack, store.Last(s.Sack))
	}
	_ = writeEnd(out)
	_ = out.Flush()
	return nil
}

// drained are records of one sack.
type drained struct {
	sack    int
	records []incoming.Record
}

// drainSacks takes what there is, pollBytes in all. Every sack is asked, so that the backlog is known.
func drainSacks(store *incoming.Store, sacks []pollSack) ([]drained, error) {
	var found []drained
	left := pollBytes
	for _, s := range sacks {
		if left <= 0 {
			break
		}
		records, err := store.Drain(s.Sack, s.After, left)
		if err != nil {
			return nil, err
		}
		for _, record := range records {
			left -= len(record.Block)
		}
		if len(records) > 0 {
			found = append(found, drained{s.Sack, records})
		}
	}
	return found, nil
}

// awaitSacks waits until one of the sacks got records, and tells whether one did.
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
		// The token may be of records that an earlier answer had.
		if s := sacks[chosen-2]; store.Last(s.Sack) > s.After {
			return true
		}
	}
}
