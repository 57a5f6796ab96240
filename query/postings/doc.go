// Package postings finds metrics by labels. It keeps the label sets of all metrics in memory, and for each value of a
// label the resources and the pushed series with it. Each text and each pair of name and value is there once.
//
// On the path of aggregates out, package promql asks it which series a selector means. It follows the index: before
// each answer it reads the changes there since the answer before.
//
// The labels of a series are:
//
//	__name__            the metric's name, as it is
//	resource_id         the ID of its resource
//	resource_type       the resource's type
//	project_id, user_id of the resource, where it has them
//	metric_id           of a metric without a resource, whose name is not unique
//	any other           an attribute of the resource's current revision that is not null
//
// A series that was pushed with labels has these, its name among them, and no others. With Ceilometer's names
// (naming.go) metrics of resources are shown by others, and matchers know both.
//
// Matchers know more than results show: metric_id of every metric, original_resource_id, unit and archive_policy.
// Shown, these would keep one metric of a resource from matching another. __any__ matches if the name, an ID or a
// label's value does, but for unit and archive_policy, which tell no series apart. An attribute that is called as one
// of these labels gets attribute_ before its name.
//
// Read catalog.go first, then select.go, the questions; match.go, how series are found; field.go, their labels;
// pushed.go, those of pushed series. The invariants: an answer is about one state of the catalog, which is no older
// than the call. It contains no trace of a metric that the caller may not see.
package postings
