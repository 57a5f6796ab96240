package gnocchiconf

// option is a row of the table: one of Gnocchi's options, and what it is here.
type option struct {
	section, name string
	preset        string // Gnocchi's default; "": none
	setting       string // ours; "": ignored
	note          string
}

// options are those of Gnocchi 4.4 to 4.7 that matter here, and those that deployments write. In the order of the page.
var options = []option{
	{"default", "debug", "", "log-level", "`debug` if true"},
	{"default", "verbose", "true", "log-level", "`warn` if false"},
	{"default", "log_file", "", "log-file", "below `log_dir`, unless it is absolute"},
	{"default", "log_dir", "", "log-file", "without `log_file` the file is named after the program"},
	{"default", "parallel_operations", "", "", "threads are shared by all there is to do"},
	{"default", "coordination_url", "", "", "processes know each other by the data folder: `coordination`"},
	{"default", "use_syslog", "", "", "the log goes to stderr or `log-file`"},
	{"default", "use_journal", "", "", "what goes to stderr reaches the journal under systemd"},
	{"default", "syslog_log_facility", "", "", "as `use_syslog`"},
	{"default", "log_config_append", "", "", "as `use_syslog`"},
	{"api", "auth_mode", "basic", "auth-mode", "`basic` and `keystone`; `remoteuser` also needs `remote-user-header`"},
	{"api", "host", "0.0.0.0", "listen", "with `port`"},
	{"api", "port", "8041", "listen", "with `host`"},
	{"api", "max_limit", "1000", "max-limit", ""},
	{"api", "enable_proxy_headers_parsing", "", "proxy-headers", "as the option of `[oslo_middleware]`"},
	{"api", "paste_config", "", "", "read only to refuse filters that are not Gnocchi's own"},
	{"api", "operation_timeout", "", "", "`query-timeout` bounds reads, refreshes included"},
	{"api", "uwsgi_mode", "", "", "the port speaks HTTP, and no uwsgi"},
	{"keystone_authtoken", "auth_url", "", "keystone-url", "needed in mode `keystone`"},
	{"keystone_authtoken", "auth_type", "", "", "`password` and `v3applicationcredential`; others are refused"},
	{"keystone_authtoken", "auth_section", "", "", "the section that has the options of this one"},
	{"keystone_authtoken", "username", "", "keystone-user", ""},
	{"keystone_authtoken", "password", "", "keystone-secret", ""},
	{"keystone_authtoken", "user_domain_name", "", "keystone-user-domain", ""},
	{"keystone_authtoken", "user_domain_id", "", "keystone-user-domain-id", ""},
	{"keystone_authtoken", "project_name", "", "keystone-project", ""},
	{"keystone_authtoken", "project_domain_name", "", "keystone-project-domain", ""},
	{"keystone_authtoken", "project_domain_id", "", "keystone-project-domain-id", ""},
	{"keystone_authtoken", "application_credential_id", "", "keystone-application-credential", ""},
	{"keystone_authtoken", "application_credential_secret", "", "keystone-secret", ""},
	{"keystone_authtoken", "cafile", "", "keystone-ca-file", ""},
	{"keystone_authtoken", "insecure", "", "", "refused if true: Keystone's certificate is always checked"},
	{"keystone_authtoken", "certfile", "", "", "refused: no certificate is shown to Keystone"},
	{"keystone_authtoken", "keyfile", "", "", "refused, as `certfile`"},
	{"keystone_authtoken", "delay_auth_decision", "", "", "a client without a valid token gets 401 all the same"},
	{"keystone_authtoken", "www_authenticate_uri", "", "", "a 401 names no Keystone"},
	{"keystone_authtoken", "auth_uri", "", "", "as `www_authenticate_uri`"},
	{"keystone_authtoken", "auth_version", "", "", "version 3 is spoken"},
	{"keystone_authtoken", "interface", "", "", "Keystone is asked at `auth_url`"},
	{"keystone_authtoken", "region_name", "", "", "as `interface`"},
	{"keystone_authtoken", "token_cache_time", "", "", "an answer of Keystone's is believed for five minutes"},
	{"keystone_authtoken", "memcached_servers", "", "", "each process remembers Keystone's answers itself"},
	{"keystone_authtoken", "memcache_security_strategy", "", "", "as `memcached_servers`"},
	{"keystone_authtoken", "memcache_secret_key", "", "", "as `memcached_servers`"},
	{"keystone_authtoken", "memcache_use_advanced_pool", "", "", "as `memcached_servers`"},
	{"keystone_authtoken", "service_token_roles_required", "", "", "service tokens are not asked for"},
	{"keystone_authtoken", "service_token_roles", "", "", "as `service_token_roles_required`"},
	{"keystone_authtoken", "service_type", "", "",
		"Keystone hands no token with access rules to a service that does not check these"},
	{"storage", "driver", "file", "", "any driver; the folder `data` keeps everything"},
	{"storage", "file_basepath", "/var/lib/gnocchi", "data",
		"the folder `gnocco` below it; Gnocchi's files there stay as they are"},
	{"storage", "file_subdir_len", "", "", "about Gnocchi's own files"},
	{"incoming", "driver", "", "", "measures wait in the folder `data`"},
	{"incoming", "file_basepath", "", "", "as `driver`"},
	{"indexer", "url", "", "", "the index is in the folder `data`"},
	{"indexer", "driver", "", "", "as `url`"},
	{"statsd", "host", "0.0.0.0", "statsd-listen", "of `gnocchi-statsd`, with `port`"},
	{"statsd", "port", "8125", "statsd-listen", "of `gnocchi-statsd`, with `host`"},
	{"statsd", "resource_id", "", "statsd-resource-id",
		"if set, an API takes what `gnocchi-statsd` passes on: `statsd-listen` is the socket `statsd.sock` in `data`"},
	{"statsd", "creator", "", "statsd-creator", ""},
	{"statsd", "archive_policy_name", "", "statsd-archive-policy", ""},
	{"statsd", "flush_delay", "10", "statsd-flush-interval", ""},
	{"metricd", "workers", "", "workers", "sacks worked on at once"},
	{"metricd", "metric_processing_delay", "", "", "measures are processed at once"},
	{"metricd", "greedy", "", "", "as `metric_processing_delay`"},
	{"metricd", "metric_reporting_delay", "", "", "figures are at `/metrics` and `/v1/status`"},
	{"metricd", "metric_cleanup_delay", "", "", "what is deleted goes at once"},
	{"metricd", "metric_inactive_after", "", "metric-inactive-after",
		"of an API; the process that holds the index looks every five minutes or more often"},
	{"metricd", "resource_cleanup_after", "", "resource-cleanup-after", "as `metric_inactive_after`"},
	{"metricd", "processing_replicas", "", "", "a sack has one worker"},
	{"oslo_policy", "policy_file", "", "policy-file",
		"a path is relative to the file that says so; without it `policy.yaml` or `policy.json` beside that, " +
			"if there is one"},
	{"oslo_policy", "policy_dirs", "", "", "refused if one holds files: rules are in one file"},
	{"oslo_policy", "policy_default_rule", "", "", "each of the rules has a meaning of its own"},
	{"oslo_policy", "enforce_scope", "", "", "Gnocchi's rules have no scopes"},
	{"oslo_policy", "enforce_new_defaults", "", "", "as `enforce_scope`"},
	{"cors", "allowed_origin", "", "cors-allowed-origin", ""},
	{"cors", "allow_credentials", "", "", "as the API needs it"},
	{"cors", "expose_headers", "", "", "as `allow_credentials`"},
	{"cors", "max_age", "", "", "as `allow_credentials`"},
	{"cors", "allow_methods", "", "", "as `allow_credentials`"},
	{"cors", "allow_headers", "", "", "as `allow_credentials`"},
	{"oslo_middleware", "enable_proxy_headers_parsing", "", "proxy-headers", ""},
	{"oslo_middleware", "max_request_body_size", "", "", "`max-body-bytes` bounds bodies"},
	{"healthcheck", "path", "", "", "`/healthcheck`, and `/ready` and `/live`"},
	{"healthcheck", "backends", "", "", "as `path`"},
	{"healthcheck", "detailed", "", "", "as `path`"},
	{"healthcheck", "disable_by_file_path", "", "", "SIGTERM is what takes a process out of a balancer"},
	{"archive_policy", "default_aggregation_methods", defaultMethods, "",
		"policies without methods of their own have Gnocchi's default; a name other than these is reported"},
}

const defaultMethods = "mean,min,max,sum,std,count"

// known is the table by name.
var known = func() map[key]option {
	all := make(map[key]option, len(options))
	for _, o := range options {
		all[key{o.section, o.name}] = o
	}
	return all
}()
