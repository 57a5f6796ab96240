# Upgrades as ceilometer-upgrade does, publishes samples and events as Ceilometer's agents do, and prints what gnocchiclient reads back:
# publish.py FILE
import datetime
import json
import sys

from ceilometer import gnocchi_client
from ceilometer import publisher
from ceilometer import sample
from ceilometer import service
from ceilometer.cmd import storage
from ceilometer.event import models

PROJECT = "b7f0b2a8f7a24a2ab3c4d5e6f7081920"
USER = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
FIRST = "11111111-2222-3333-4444-555555555555"
SECOND = "66666666-7777-8888-9999-aaaaaaaaaaaa"
PORT = "instance-00000001-" + FIRST + "-tap0"
VOLUME = "77777777-7777-4777-8777-777777777777"

sys.argv = ["ceilometer-upgrade", "--retry", "3", "--config-file", sys.argv[1]]
conf = service.prepare_service([], [sys.argv[-1]])
samples = publisher.get_publisher(conf, "gnocchi://", "ceilometer.sample.publisher")
events = publisher.get_publisher(conf, "gnocchi://", "ceilometer.event.publisher")
client = gnocchi_client.get_gnocchiclient(conf)


def instance(name):
    return {"host": "compute1", "display_name": name, "flavor": {"id": "f1", "name": "m1.small"},
            "image_ref": "cirros", "user_metadata": {"server_group": "web"}}


def cpu(minute, value, name="web"):
    return sample.Sample("cpu", "cumulative", "ns", value, USER, PROJECT, FIRST, "2026-01-01T12:%02d:00" % minute, instance(name))


def port(minute, value):
    return sample.Sample("network.incoming.bytes", "cumulative", "B", value, USER, PROJECT, PORT, "2026-01-01T12:%02d:00" % minute,
                         {"vnic_name": "tap0", "instance_id": FIRST})


def volume(minute, value):
    return sample.Sample("volume.size", "gauge", "GB", value, USER, PROJECT, VOLUME, "2026-01-01T12:%02d:00" % minute,
                         {"display_name": "data", "volume_type": "ssd"})


def event(kind, **traits):
    return models.Event("m-" + kind, kind, datetime.datetime(2026, 1, 1, 12), [models.Trait(k, models.Trait.TEXT_TYPE, v) for k, v in
                                                                                traits.items()], {})


def strip(resource):
    # Without what is random or depends on the session; of ended_at, whether it is set.
    gone = ("id", "metrics", "creator", "created_by_user_id", "created_by_project_id", "revision_start", "revision_end", "started_at")
    return {k: v is not None if k == "ended_at" else v for k, v in resource.items() if k not in gone}


def measures(name, resource, **kwargs):
    return [[str(t), g, v] for t, g, v in client.metric.get_measures(name, resource_id=resource, refresh=True, **kwargs)]


storage.upgrade()
upgraded = client.resource_type.list()
storage.upgrade()

# Resources are unknown at first, and names that no definition has are left out; a metric within a known resource is created.
samples.publish_samples([cpu(0, 1e9), port(0, 1000), cpu(5, 4e9), volume(0, 20),
                         sample.Sample("unheard.of", "gauge", "x", 1, USER, PROJECT, FIRST, "2026-01-01T12:00:00", {})])
samples.publish_samples([sample.Sample("memory.usage", "gauge", "MB", 512, USER, PROJECT, FIRST, "2026-01-01T12:05:00", instance("web"))])
# The instance is renamed.
samples.publish_samples([cpu(10, 6e9, "shop"), port(10, 3000)])
# Another comes by an event, which may come twice; a volume changes hands; the first instance goes, and its port with it.
for _ in range(2):
    events.publish_events([event("compute.instance.create.end", instance_id=SECOND, display_name="db", host="compute2", instance_type_id="f2",
                                 instance_type="m1.large", user_id=USER, project_id=PROJECT, availability_zone="nova")])
events.publish_events([event("volume.transfer.accept.end", resource_id=VOLUME, display_name="data", volume_type="ssd", project_id="another")])
events.publish_events([event("compute.instance.delete.start", instance_id=FIRST, display_name="shop", host="compute1", instance_type_id="f1",
                             instance_type="m1.small", user_id=USER, project_id=PROJECT, availability_zone="nova"),
                       event("unheard.of", instance_id=FIRST)])

print(json.dumps({
    "types": sorted(t["name"] for t in upgraded),
    "the second upgrade changed": [t["name"] for t in client.resource_type.list() if t not in upgraded],
    "instances": [strip(r) for r in client.resource.search("instance", {"=": {"project_id": PROJECT}}, sorts=["display_name:asc"])],
    "history": [r["display_name"] + (" ended" if r["ended_at"] else "") for r in client.resource.history("instance", FIRST, sorts=["revision_start:asc"])],
    "port": strip(client.resource.get("instance_network_interface", PORT)),
    "volume": [str(r["project_id"]) for r in client.resource.history("volume", VOLUME, sorts=["revision_start:asc"])],
    "metrics": {n: client.metric.get(n, resource_id=FIRST)["unit"] for n in client.resource.get("instance", FIRST)["metrics"]},
    "cpu": measures("cpu", FIRST),
    "cpu rate": measures("cpu", FIRST, aggregation="rate:mean"),
    "port bytes": measures("network.incoming.bytes", PORT),
    "memory": measures("memory.usage", FIRST),
    "size": measures("volume.size", VOLUME),
}))
