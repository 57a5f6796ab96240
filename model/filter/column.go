package filter

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// Scope is what names and values of a filter or an order are understood by.
type Scope struct {
	Type    *model.ResourceType
	Creator string              // of the request: a text compared with an ID stands for their resource
	Now     carbonara.Timestamp // that relative times count from
	History bool                // past states are also searched: they have a revision and its end
}

// kind is the type of a column's values.
type kind uint8

const (
	kindText     kind = iota // string
	kindUUID                 // uuid.UUID
	kindNumber               // float64, never NaN
	kindBool                 // bool
	kindTime                 // carbonara.Timestamp, to the microsecond
	kindTimespan             // time.Duration
	kindInteger              // int64
)

// column is a field of resources that can be asked for.
type column struct {
	name string
	kind kind
	get  func(*model.Resource) any // nil for null, else of the kind's type
}

// columns are those of all resources.
var columns = map[string]column{
	"id":                   {"id", kindUUID, func(r *model.Resource) any { return r.ID }},
	"type":                 {"type", kindText, func(r *model.Resource) any { return r.Type }},
	"creator":              {"creator", kindText, func(r *model.Resource) any { return r.Creator }},
	"original_resource_id": {"original_resource_id", kindText, func(r *model.Resource) any { return r.OriginalID }},
	"user_id":              {"user_id", kindText, func(r *model.Resource) any { return textOrNull(r.UserID) }},
	"project_id":           {"project_id", kindText, func(r *model.Resource) any { return textOrNull(r.ProjectID) }},
	"started_at":           {"started_at", kindTime, func(r *model.Resource) any { return shownTime(r.StartedAt) }},
	"ended_at":             {"ended_at", kindTime, func(r *model.Resource) any { return timeOrNull(r.EndedAt) }},
	"revision_start": {"revision_start", kindTime, func(r *model.Resource) any {
		return shownTime(r.RevisionStart)
	}},
}

// historyColumns are those of past states. The live state has the number -1, as in Gnocchi.
var historyColumns = map[string]column{
	"revision":     {"revision", kindInteger, func(r *model.Resource) any { return RevisionNumber(r) }},
	"revision_end": {"revision_end", kindTime, func(r *model.Resource) any { return timeOrNull(r.RevisionEnd) }},
}

// derivedColumns can be compared, but not sorted by.
var derivedColumns = map[string]column{
	"lifespan": {"lifespan", kindTimespan, func(r *model.Resource) any {
		if r.EndedAt == nil {
			return nil
		}
		return time.Duration(shownTime(*r.EndedAt) - shownTime(r.StartedAt))
	}},
	"created_by_user_id": {"created_by_user_id", kindText, func(r *model.Resource) any {
		user, _, _ := strings.Cut(r.Creator, ":")
		return user
	}},
	"created_by_project_id": {"created_by_project_id", kindText, func(r *model.Resource) any {
		_, project, _ := strings.Cut(r.Creator, ":")
		return project
	}},
}

// RevisionNumber returns the number that the API shows for a state of a resource: -1 for the live one.
func RevisionNumber(r *model.Resource) int64 {
	if r.Revision == 0 {
		return -1
	}
	return int64(r.Revision)
}

// column finds one by its name.
func (s *Scope) column(name string) (column, bool) {
	if c, ok := columns[name]; ok {
		return c, true
	}
	if c, ok := historyColumns[name]; ok && s.History {
		return c, true
	}
	a := s.Type.Attribute(name)
	if a == nil {
		return column{}, false
	}
	return column{name, attributeKind(a.Kind), func(r *model.Resource) any {
		value, _ := r.Attributes.Get(name)
		if t, ok := value.(carbonara.Timestamp); ok {
			return shownTime(t)
		}
		return value
	}}, true
}

func attributeKind(k model.AttributeKind) kind {
	switch k {
	case model.KindString:
		return kindText
	case model.KindUUID:
		return kindUUID
	case model.KindNumber:
		return kindNumber
	case model.KindBool:
		return kindBool
	case model.KindDatetime:
		return kindTime
	}
	panic(fmt.Sprintf("filter: attribute kind %d", k))
}

func textOrNull(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

func timeOrNull(t *carbonara.Timestamp) any {
	if t == nil {
		return nil
	}
	return shownTime(*t)
}

// shownTime cuts t to the digits that clients see, so that they find the time they see.
func shownTime(t carbonara.Timestamp) carbonara.Timestamp { return t.Floor(time.Microsecond) }

// compare orders two values of a kind, neither null.
func (k kind) compare(a, b any) int {
	switch k {
	case kindText:
		return strings.Compare(a.(string), b.(string))
	case kindUUID:
		return model.CompareIDs(a.(uuid.UUID), b.(uuid.UUID))
	case kindNumber:
		return cmp.Compare(a.(float64), b.(float64))
	case kindBool:
		switch x, y := a.(bool), b.(bool); {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case kindTime:
		return cmp.Compare(a.(carbonara.Timestamp), b.(carbonara.Timestamp))
	case kindTimespan:
		return cmp.Compare(a.(time.Duration), b.(time.Duration))
	}
	return cmp.Compare(a.(int64), b.(int64))
}
