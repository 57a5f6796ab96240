// Package policy decides who may do what. A rule has a name, which is Gnocchi's ("update resource"), and an expression
// in oslo.policy's language, in which OpenStack writes policy files:
//
//	""                             everyone
//	role:admin                     a user with that role, in upper or lower case
//	rule:creator                   who another rule lets pass
//	project_id:%(project_id)s      whose credential project_id is the target's project_id
//	True:%(on)s   'web':%(host)s   a target of which this is true
//	@   !                          everyone, nobody
//	not ... and ... or ( ... )     not binds most, or least
//
// The target is what the request is about: a metric, a resource. Where it lacks an attribute, a check of that attribute
// fails; so does a check of a credential that the user does not have. A check also fails if both sides are null or
// empty. There oslo.policy finds that None is None, and a user without a project sees resources without a project.
//
// Read access_rules.go first, then parse.go. The default rules stand in defaults.go; a YAML file may replace any of
// them. A file with a mistake is refused as a whole when it is read, where oslo.policy would log it and refuse requests
// later.
package policy
