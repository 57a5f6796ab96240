package ingest

import "github.com/gnocco-db/gnocco/model"

// Rights are what the sender of measures may do. Each method returns nil, or the error to answer with.
type Rights interface {
	CreateResource(*model.Resource) error
	UpdateResource(*model.Resource) error
	CreateResourceType(name string) error
	CreateSeries([]*model.Metric) error // with labels
	PostMeasures(*model.Metric) error
}

// Unrestricted are the rights of a sender who may do everything.
type Unrestricted struct{}

// CreateResource implements Rights, as all of these do.
func (Unrestricted) CreateResource(*model.Resource) error { return nil }

// UpdateResource is of Rights.
func (Unrestricted) UpdateResource(*model.Resource) error { return nil }

// CreateResourceType is of Rights.
func (Unrestricted) CreateResourceType(string) error { return nil }

// CreateSeries is of Rights.
func (Unrestricted) CreateSeries([]*model.Metric) error { return nil }

// PostMeasures is of Rights.
func (Unrestricted) PostMeasures(*model.Metric) error { return nil }
