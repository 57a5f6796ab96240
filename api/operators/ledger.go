package operators

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// ledgerJSON is an entry of the ledger as the API shows it.
type ledgerJSON struct {
	ID       uuid.UUID `json:"id"`
	At       time.Time `json:"at"`
	User     string    `json:"user"`
	Kind     string    `json:"kind"`
	Selector string    `json:"selector"`
	Start    string    `json:"start"`
	Stop     *string   `json:"stop"` // null: no end
	Reason   string    `json:"reason"`
	State    string    `json:"state"`
	Metrics  int       `json:"metrics"`
	Before   int       `json:"groups_before"`
	After    int       `json:"groups_after"`
	Measures int       `json:"measures"`
	Bytes    int64     `json:"bytes"`
	Lost     int       `json:"lost_groups"`
	Failed   int       `json:"failed"`
	// Repeats is the first of equal requests within an hour; null: this one.
	Repeats *uuid.UUID `json:"repeats"`
}

// hourBefore returns an ID of an hour before one of version 7, which begins with its milliseconds.
func hourBefore(id uuid.UUID) uuid.UUID {
	ms := binary.BigEndian.Uint64(id[:8]) >> 16
	binary.BigEndian.PutUint64(id[:8], (ms-min(ms, 3_600_000))<<16)
	return id
}

// listLedger serves GET /v1/ledger: deletions and corrections of measures, of all metrics or some, the earliest first.
func (a *Handlers) listLedger(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	page, after, err := a.ParseIDPage(r.URL.Query(), "an entry")
	if err != nil {
		return err
	}
	metrics := map[uuid.UUID]bool{}
	for _, text := range r.URL.Query()["metric"] {
		id, err := model.ParseUUID(text)
		if err != nil {
			return web.BadArgument("metric", "Must be the ID of a metric")
		}
		metrics[id] = true
	}
	shown, first := []ledgerJSON{}, map[string]*model.LedgerEntry{}
	err = a.Index.Ledger(r.Context(), hourBefore(after), func(e *model.LedgerEntry) bool {
		one, request := showLedger(e), fmt.Sprint(e.Who, e.Correction, e.Selector, e.Metrics, e.From, e.To, e.Reason)
		if f := first[request]; f != nil && e.At.Sub(f.At) <= time.Hour {
			one.Repeats = &f.ID
		} else {
			first[request] = e
		}
		isOf := func(id uuid.UUID) bool { return metrics[id] }
		if model.CompareIDs(e.ID, after) > 0 && (len(metrics) == 0 || slices.ContainsFunc(e.Metrics, isOf)) {
			shown = append(shown, one)
		}
		return len(shown) < page.Limit
	})
	if err == nil && len(shown) == page.Limit {
		a.SetLink(w, r, r.URL.Query(), page, shown[len(shown)-1].ID.String())
	}
	return web.Answer(w, shown, err)
}

func showLedger(e *model.LedgerEntry) ledgerJSON {
	kind := map[bool]string{false: "deletion", true: "correction"}[e.Correction]
	shown := ledgerJSON{ID: e.ID, At: e.At, User: e.Who, Kind: kind, Selector: e.Selector,
		Start: web.ShowTime(e.From), Reason: e.Reason, State: e.State.String(), Metrics: e.Done.Metrics,
		Before: e.Done.Before, After: e.Done.After, Measures: e.Done.Measures, Bytes: e.Done.Bytes,
		Lost: e.Done.LostGroups, Failed: e.Done.Failed}
	if e.To < carbonara.MaxTimestamp {
		shown.Stop = new(web.ShowTime(e.To))
	}
	return shown
}
