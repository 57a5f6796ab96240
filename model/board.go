package model

import (
	"time"

	"github.com/google/uuid"
)

// Board is views of the console that a user saved under a name. Its JSON is that of the API and of the index.
type Board struct {
	ID      uuid.UUID `json:"id"` // of version 7: later ones are greater
	Name    string    `json:"name"`
	Owner   string    `json:"owner"`  // the user who saved it
	Shared  bool      `json:"shared"` // with users of the owner's project; without projects, with all
	Changed time.Time `json:"changed_at"`
	Panels  []Panel   `json:"panels"`
}

// Panel is one view of a board.
type Panel struct {
	Title string `json:"title"`
	View  string `json:"view"` // address within the console, without a time: explore?q=up
}

// NounBoard begins sentences about a board.
const NounBoard = "Board"

// The most that boards have.
const (
	MostBoards     = 500 // of one user
	MostPanels     = 100
	MostBoardName  = 200 // characters, of a panel's title as well
	MostPanelBytes = 16 << 10
)
