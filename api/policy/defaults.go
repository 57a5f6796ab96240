package policy

// defaults are the rules of Gnocchi's newest release, and at the end ours.
var defaults = map[string]string{
	"context_is_admin": "role:admin",
	"admin_or_creator": "role:admin or user:%(creator)s or project_id:%(created_by_project_id)s",
	"admin_or_service": "role:admin or role:service",
	"creator":          "user:%(creator)s or project_id:%(created_by_project_id)s",
	"resource_owner":   "project_id:%(project_id)s",
	"metric_owner":     "project_id:%(resource.project_id)s",

	"get status": "role:admin",

	"create resource":  "",
	"get resource":     "rule:admin_or_creator or rule:resource_owner",
	"update resource":  "rule:admin_or_service or rule:creator",
	"delete resource":  "rule:admin_or_creator",
	"delete resources": "rule:admin_or_creator",
	"list resource":    "rule:admin_or_creator or rule:resource_owner",
	"search resource":  "rule:admin_or_service or rule:creator or rule:resource_owner",

	"create resource type": "rule:admin_or_service",
	"get resource type":    "",
	"update resource type": "rule:admin_or_service",
	"delete resource type": "role:admin",
	"list resource type":   "",

	"create archive policy": "rule:admin_or_service",
	"get archive policy":    "",
	"update archive policy": "role:admin",
	"delete archive policy": "role:admin",
	"list archive policy":   "",

	"create archive policy rule": "role:admin",
	"get archive policy rule":    "",
	"update archive policy rule": "role:admin",
	"delete archive policy rule": "role:admin",
	"list archive policy rule":   "",

	"create metric": "",
	"get metric":    "rule:admin_or_service or rule:creator or rule:metric_owner",
	"delete metric": "rule:admin_or_creator",
	"list metric":   "rule:admin_or_creator or rule:metric_owner",
	"search metric": "rule:admin_or_creator or rule:metric_owner",

	"post measures": "rule:admin_or_service or rule:creator",
	"get measures":  "rule:admin_or_service or rule:creator or rule:metric_owner",

	"get archive policy cost": "role:admin",

	"update metric": "role:admin", // gives it another archive policy
	"rebuild":       "role:admin",

	"list queries":  "role:admin", // of all users, to end them, and what they cost
	"list ledger":   "role:admin", // of measures that were deleted or corrected
	"list backups":  "role:admin",
	"manage quotas": "role:admin",
	"put archive":   "role:admin", // whose bytes an export of archives has
	"delete series": "role:admin", // by Prometheus' API for administrators
}
