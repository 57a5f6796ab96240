package repartition

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"gnocco/internal/server"
)

// journal says how far a change is.
type journal struct {
	From      int  `json:"from"` // sacks
	To        int  `json:"to"`
	Copied    int  `json:"copied"` // of the old sacks, the first so many are copied
	Switching bool `json:"switching"`
}

// readJournal returns nil if no change is under way.
func readJournal(f *server.Folder) (*journal, error) {
	content, err := os.ReadFile(f.RepartitionPath())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := new(journal)
	if err := json.Unmarshal(content, j); err != nil {
		return nil, fmt.Errorf("%s: %w", f.RepartitionPath(), err)
	}
	return j, nil
}
