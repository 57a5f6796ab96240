package query

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// ReadOf asks for the groups that a method is answered from; from may lie within one.
func ReadOf(metric *model.Metric, granularity time.Duration, method carbonara.Method,
	from, to carbonara.Timestamp) model.Read {
	return model.Read{
		Metric: metric, Granularity: granularity, Columns: columnsOf(metric, method),
		From: from.Floor(granularity), To: to, Lead: method.IsCounter(),
	}
}

// columnsOf returns the columns that method is derived from. Rates need their count to tell which groups have none.
func columnsOf(metric *model.Metric, method carbonara.Method) []carbonara.Column {
	if metric != nil && metric.ArchivePolicy.FromSketch(method) {
		return []carbonara.Column{carbonara.ColumnSketch}
	}
	columns := method.Columns()
	if count := carbonara.ColumnCount.Rate(); method.IsRate() && columns[0] != count {
		columns = slices.Insert(columns, 0, count)
	}
	return columns
}
