# Stores measures, collects them as CloudKitty does, from Gnocchi's API and from Prometheus', and prints what it finds:
# collect.py FILE SERVERS, where the latter is JSON: a list of servers with id, project, flavor, and a value for each minute from 12:00 on.
import datetime
import json
import sys

from cloudkitty import service
from cloudkitty.collector import gnocchi
from cloudkitty.collector import prometheus
from cloudkitty.fetcher import gnocchi as gnocchi_fetcher
from cloudkitty.fetcher import prometheus as prometheus_fetcher

START = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.timezone.utc)
HOUR = datetime.timedelta(hours=1)

service.prepare_service(["collect", "--config-file", sys.argv[1]])
with open(sys.argv[2]) as file:
    servers = json.load(file)


def by_gnocchi(method, metric="cpu", **kwargs):
    extra = dict({"resource_type": "server", "aggregation_method": method, "re_aggregation_method": method, "force_granularity": 3600}, **kwargs)
    return gnocchi.GnocchiCollector(period=3600, conf={"metrics": {metric: {
        "unit": "s", "groupby": ["id", "project_id"], "metadata": ["flavor"], "extra_args": extra}}})


def by_prometheus(method, **kwargs):
    return prometheus.PrometheusCollector(period=3600, conf={"metrics": {"cpu": {
        "unit": "s", "groupby": ["resource_id", "project_id"], "metadata": ["flavor"], "extra_args": dict({"aggregation_method": method}, **kwargs)}}})


api = by_gnocchi("sum")._conn
api.archive_policy.create({"name": "rated", "definition": [{"granularity": "60s", "timespan": "1d"}, {"granularity": "1h", "timespan": "30d"}],
                           "aggregation_methods": ["mean", "sum", "max", "min", "count"]})
api.resource_type.create({"name": "server", "attributes": {"flavor": {"type": "string", "required": False}}})
for s in servers:
    api.resource.create("server", {"id": s["id"], "project_id": s["project"], "flavor": s["flavor"], "started_at": "2026-01-01T11:00:00",
                                   "metrics": {n: {"archive_policy_name": "rated"} for n in ("cpu", "power")}})
api.metric.batch_resources_metrics_measures({s["id"]: {
    "cpu": [{"timestamp": (START + datetime.timedelta(minutes=m)).isoformat(), "value": v} for m, v in enumerate(s["values"])],
    "power": [{"timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(), "value": 1}]} for s in servers})
for s in servers:
    for name in ("cpu", "power"):
        api.metric.get_measures(name, resource_id=s["id"], refresh=True)

out = {"tenants": sorted(gnocchi_fetcher.GnocchiFetcher().get_tenants()),
       "prometheus tenants": sorted(prometheus_fetcher.PrometheusFetcher().get_tenants())}
for project in sorted({s["project"] for s in servers}):
    for hour in range(3):
        start = START + hour * HOUR
        for kind, collector, id in (("gnocchi", by_gnocchi, "id"), ("prometheus", by_prometheus, "resource_id")):
            for method in ("sum", "max", "min"):
                points = collector(method).fetch_all("cpu", start, start + HOUR, project)
                out["%s %s %s %d" % (kind, method, project, hour)] = {
                    p.groupby[id] + " " + p.metadata["flavor"] + " " + p.unit: float(p.qty) for p in points}
        points = by_gnocchi("sum", custom_query="(/ (aggregate RE_AGGREGATION_METHOD (metric METRIC_NAME AGGREGATION_METHOD)) 60)").fetch_all(
            "cpu", start, start + HOUR, project)
        out["custom %s %d" % (project, hour)] = {p.groupby["id"]: float(p.qty) for p in points}
out["unknown metric"] = by_gnocchi("sum", "lode").fetch_all("lode", START, START + HOUR, servers[0]["project"])
out["unknown project"] = by_gnocchi("sum").fetch_all("cpu", START, START + HOUR, "nobody")
print(json.dumps(out))
