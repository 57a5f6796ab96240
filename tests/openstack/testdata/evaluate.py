# Evaluates alarms as Aodh's evaluator does, step by step, and prints what state they come to: evaluate.py FILE
import datetime
import json
import sys

from gnocchiclient import client
from oslo_utils import timeutils

from aodh import keystone_client
from aodh import service
from aodh import storage
from aodh.evaluator import gnocchi
from aodh.storage import models

START = datetime.datetime(2026, 1, 1, 12)

conf = service.prepare_service([], [sys.argv[1]])
api = client.Client("1", keystone_client.get_session(conf), adapter_options={"region_name": conf.service_credentials.region_name})
api.archive_policy.create({"name": "minutes", "definition": [{"granularity": "60s", "timespan": "1h"}], "aggregation_methods": ["mean", "rate:mean"]})
metrics = []
for number in range(2):
    resource = api.resource.create("generic", {"id": "web%d" % number, "project_id": "shop",
                                               "metrics": {"load": {"archive_policy_name": "minutes"}}})
    metrics.append(resource["metrics"]["load"])

threshold = {"comparison_operator": "gt", "threshold": 10.0, "evaluation_periods": 2, "granularity": 60, "aggregation_method": "mean"}
of_resource = dict(threshold, metric="load", resource_id="web0", resource_type="generic")
of_metrics = dict(threshold, metrics=metrics)
of_resources = dict(threshold, metric="load", resource_type="generic", query='{"=": {"project_id": "shop"}}')
rules = {
    "resource": ("gnocchi_resources_threshold", gnocchi.GnocchiResourceThresholdEvaluator, of_resource),
    "metrics": ("gnocchi_aggregation_by_metrics_threshold", gnocchi.GnocchiAggregationMetricsThresholdEvaluator, of_metrics),
    "resources": ("gnocchi_aggregation_by_resources_threshold", gnocchi.GnocchiAggregationResourcesThresholdEvaluator, of_resources),
    "rate": ("gnocchi_aggregation_by_resources_threshold", gnocchi.GnocchiAggregationResourcesThresholdEvaluator,
             dict(of_resources, aggregation_method="rate:mean", threshold=5.0)),
    "no resource": ("gnocchi_resources_threshold", gnocchi.GnocchiResourceThresholdEvaluator, dict(of_resource, resource_id="web9")),
    "no metric": ("gnocchi_resources_threshold", gnocchi.GnocchiResourceThresholdEvaluator, dict(of_resource, metric="lode")),
    "no method": ("gnocchi_resources_threshold", gnocchi.GnocchiResourceThresholdEvaluator, dict(of_resource, aggregation_method="max")),
    "no granularity": ("gnocchi_resources_threshold", gnocchi.GnocchiResourceThresholdEvaluator, dict(of_resource, granularity=7)),
    "no such metrics": ("gnocchi_aggregation_by_metrics_threshold", gnocchi.GnocchiAggregationMetricsThresholdEvaluator,
                        dict(of_metrics, metrics=[metrics[0], "12345678-1234-4234-8234-123456789abc"])),
    "no method of metrics": ("gnocchi_aggregation_by_metrics_threshold", gnocchi.GnocchiAggregationMetricsThresholdEvaluator,
                             dict(of_metrics, aggregation_method="max")),
    "no metric of resources": ("gnocchi_aggregation_by_resources_threshold", gnocchi.GnocchiAggregationResourcesThresholdEvaluator,
                               dict(of_resources, metric="lode")),
    "no resources": ("gnocchi_aggregation_by_resources_threshold", gnocchi.GnocchiAggregationResourcesThresholdEvaluator,
                     dict(of_resources, query='{"=": {"project_id": "shed"}}')),
}


store = storage.get_connection_from_config(conf)
store.upgrade()
evaluators, alarms = {}, {}
for name, (kind, evaluator, rule) in rules.items():
    alarms[name] = store.create_alarm(models.Alarm(name, kind, True, name, "", START, "u", "shop", "ok", START, "", [], [],
                                                   [], False, rule, []))
    evaluators[name] = evaluator(conf)
    evaluators[name].storage_conn = store

steps = []


def evaluate(minute):
    timeutils.set_time_override(START + datetime.timedelta(minutes=minute))
    for name, alarm in alarms.items():
        evaluators[name].evaluate(alarm)
    stored = {a.alarm_id: a for a in store.get_alarms()}
    steps.append({name: stored[name].state for name in rules})


def load(minute, *values):
    for metric, value in zip(metrics, values):
        api.metric.add_measures(metric, [{"timestamp": (START + datetime.timedelta(minutes=minute)).isoformat(), "value": value}])
        api.metric.get_measures(metric, refresh=True)


evaluate(0)
load(0, 1, 2), load(1, 2, 3), load(2, 2, 3)
evaluate(3)
load(3, 30, 20), load(4, 50, 40)
evaluate(5)
load(5, 3, 4), load(6, 3, 4)
evaluate(7)
# The second server is silent: aggregates of the first alone count.
load(7, 90), load(8, 99)
evaluate(9)
# Nothing comes any more.
evaluate(30)
print(json.dumps({"states": {name: [step[name] for step in steps] for name in rules},
                  "reasons": {name: str(alarm.state_reason) for name, alarm in alarms.items()}}))
