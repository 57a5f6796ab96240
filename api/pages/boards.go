package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
)

// boardHandlers serve boards. A user sees their own and those shared in their project, and changes their own. The role
// admin changes shared ones as well.
type boardHandlers struct{ *web.Env }

func (a boardHandlers) list(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	page, after, err := a.ParseIDPage(r.URL.Query(), "a board")
	if err != nil {
		return err
	}
	shown := []*model.Board{}
	err = a.Index.Boards(r.Context(), after, func(b *model.Board) bool {
		if seesBoard(who, b) {
			shown = append(shown, b)
		}
		return len(shown) < page.Limit
	})
	if err == nil && len(shown) == page.Limit {
		a.SetLink(w, r, r.URL.Query(), page, shown[len(shown)-1].ID.String())
	}
	return web.Answer(w, shown, err)
}

func (a boardHandlers) get(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	b, err := a.find(r, who)
	return web.Answer(w, b, err)
}

func (a boardHandlers) create(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	b := &model.Board{ID: uuid.Must(uuid.NewV7()), Owner: who.User}
	if err := a.read(w, r, b); err != nil {
		return err
	}
	own := 0
	err := a.Index.Boards(r.Context(), uuid.Nil, func(other *model.Board) bool {
		if other.Owner == who.User {
			own++
		}
		return own < model.MostBoards
	})
	if err != nil {
		return err
	}
	if own == model.MostBoards {
		return web.BadRequest("A user has %d boards at most", model.MostBoards)
	}
	if err := a.Index.PutBoard(r.Context(), b); err != nil {
		return err
	}
	a.SetLocation(w, r, "boards", b.ID.String())
	return web.WriteJSON(w, http.StatusCreated, b)
}

func (a boardHandlers) replace(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	b, err := a.findToChange(r, who)
	if err != nil {
		return err
	}
	if err := a.read(w, r, b); err != nil {
		return err
	}
	if err := a.Index.PutBoard(r.Context(), b); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, b)
}

func (a boardHandlers) delete(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	b, err := a.findToChange(r, who)
	if err != nil {
		return err
	}
	if err := a.Index.DeleteBoard(r.Context(), b.ID); err != nil {
		return err
	}
	web.WriteBody(w, http.StatusNoContent, nil)
	return nil
}

// find returns the board of the path. To users who may not see it, it does not exist.
func (a boardHandlers) find(r *http.Request, who *auth.Identity) (*model.Board, error) {
	text := web.Param(r, "id")
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, model.NotFound(model.NounBoard, text)
	}
	b, err := a.Index.Board(id)
	if err == nil && !seesBoard(who, b) {
		err = model.NotFound(model.NounBoard, text)
	}
	return b, err
}

func (a boardHandlers) findToChange(r *http.Request, who *auth.Identity) (*model.Board, error) {
	b, err := a.find(r, who)
	if err == nil && b.Owner != who.User && !slices.Contains(who.Credentials.Roles, "admin") {
		err = model.ErrForbidden
	}
	return b, err
}

func seesBoard(who *auth.Identity, b *model.Board) bool {
	_, project, _ := strings.Cut(b.Owner, ":")
	return b.Owner == who.User || b.Shared && project == who.ProjectID
}

// read takes name, shared and panels of a board from the body.
func (a boardHandlers) read(w http.ResponseWriter, r *http.Request, b *model.Board) error {
	fields, err := a.DecodeFields(w, r, "name*", "shared", "panels*")
	b.Shared = false
	var panels []web.Node
	web.Take(&err, fields, "name", &b.Name, boardName)
	web.Take(&err, fields, "shared", &b.Shared, web.Node.Bool)
	web.Take(&err, fields, "panels", &panels, web.Node.List)
	if err != nil {
		return err
	}
	if len(panels) > model.MostPanels {
		return fields["panels"].Fault("length of value must be at most %d", model.MostPanels)
	}
	b.Panels, b.Changed = make([]model.Panel, len(panels)), a.Now().UTC()
	for i, panel := range panels {
		fields, err := panel.Fields("title*", "view*")
		p := &b.Panels[i]
		web.Take(&err, fields, "title", &p.Title, boardName)
		web.Take(&err, fields, "view", &p.View, web.TextUpTo(model.MostPanelBytes))
		if err != nil {
			return err
		}
		if page, _, _ := strings.Cut(p.View, "?"); page == "" || strings.ContainsAny(page, "#/:\\") {
			return fields["view"].Fault("not an address within the console")
		}
	}
	return nil
}

func boardName(in web.Node) (string, error) {
	name, err := in.Text(model.MostBoardName)
	if err == nil && strings.TrimSpace(name) == "" {
		err = in.Fault("length of value must be at least 1")
	}
	return name, err
}
