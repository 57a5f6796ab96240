#!/usr/bin/python3
"""Write the golden vectors of package carbonara: what Gnocchi 4.4.2 itself answers.

Run with the Python that has Debian's python3-gnocchi:

    /usr/bin/python3 tools/golden/golden.py carbonara/testdata/golden

Each file is one case. A vector is one series and its aggregates; a scenario is a policy, a sequence of requests and
the aggregates that a reader sees after the last one. "values" are the answers by the rules of carbonara/doc.go. They
come from Gnocchi's code as well, under the conditions that the rules ask for: every accepted measure at once,
groups by integer division, each group's percentiles alone. Where Gnocchi, left to itself, answers otherwise, a case
has to declare the number of the rule, and the aggregate also holds "gnocchi". An undeclared difference, or a
declared one that does not occur, ends the script with an error.

Deterministic: the seeds are fixed, and no clock is read. Internal/golden reads what is written here.
"""

import collections
import contextlib
import fractions
import json
import math
import os
import random
import sys

import numpy

if not hasattr(numpy, "int"):
    numpy.int = int  # Gnocchi 4.4.2 still uses the alias that NumPy 1.24 took away

from gnocchi import archive_policy  # noqa: E402
from gnocchi import carbonara  # noqa: E402
from gnocchi import storage  # noqa: E402
from gnocchi import utils  # noqa: E402

SECOND = 10 ** 9
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
ORIGIN = 1700000040 * SECOND  # 2023-11-14T22:14:00Z: a whole minute, and nothing coarser

# The rules of carbonara/doc.go in which Gnocchi differs.
GROUPS, EQUAL, ALL_MEASURES, RATE, SUMS, PERCENTILES, TIMESPAN = 2, 3, 4, 5, 7, 9, 12

NAMED = ["mean", "sum", "last", "max", "min", "std", "median", "first", "count"]
PERCENTILE_NAMES = ["1pct", "7pct", "50pct", "95pct", "99pct"]
PLAIN = NAMED + PERCENTILE_NAMES
METHODS = PLAIN + ["rate:" + m for m in PLAIN]


def duration(nanoseconds):
    return numpy.timedelta64(nanoseconds, "ns")


def integer_round(ts, freq):
    """What carbonara.round_timestamp would be in integers (rule 2)."""
    since = (ts - carbonara.UNIX_UNIVERSAL_START64).astype("timedelta64[ns]").astype("int64")
    width = freq.astype("timedelta64[ns]").astype("int64")
    return carbonara.UNIX_UNIVERSAL_START64 + (since - since % width).astype("timedelta64[ns]")


@contextlib.contextmanager
def in_integers():
    original = carbonara.round_timestamp
    carbonara.round_timestamp = integer_round
    try:
        yield
    finally:
        carbonara.round_timestamp = original


def series(timestamps, values):
    return carbonara.make_timeseries(numpy.array(timestamps, dtype="datetime64[ns]"), values)


def pairs(ts):
    return ts["timestamps"].astype("int64").tolist(), [float(v) for v in ts["values"]]


def aggregate_like_gnocchi(ts, granularity, method):
    """The aggregates of one series, as Gnocchi computes them for a metric's first batch."""
    granularity = duration(granularity)
    start = carbonara.round_timestamp(ts["timestamps"][0], granularity)
    grouped = carbonara.TimeSerie(ts).group_serie(granularity, start)
    aggregation = carbonara.Aggregation(method, granularity, None)
    return pairs(carbonara.AggregatedTimeSerie.from_grouped_serie(grouped, aggregation).ts)


def aggregate_by_rules(ts, granularity, method):
    """The same under our rules: groups in integers, percentiles of each group alone, median as the 50th."""
    with in_integers():
        rate = "rate:" if method.startswith("rate:") else ""
        base = method[len(rate):]
        if base in ("sum", "mean"):
            return exact_sums(ts, granularity, method, base, rate)
        if base != "median" and not base.endswith("pct"):
            return aggregate_like_gnocchi(ts, granularity, method)
        if base == "median":
            base = "50pct"
        if rate:
            ts = carbonara.make_timeseries(ts["timestamps"][1:], numpy.diff(ts["values"]))
        starts, values = [], []
        rounded = carbonara.round_timestamp(ts["timestamps"], duration(granularity))
        for start in numpy.unique(rounded):
            s, v = aggregate_like_gnocchi(ts[rounded == start], granularity, base)
            starts += s
            values += v
        return starts, values


def exact_sums(ts, granularity, method, base, rate):
    """sum and mean, rounded once (rule 7): Gnocchi's where that is infinite or NaN, but for means of finite values."""
    starts, values = aggregate_like_gnocchi(ts, granularity, method)
    if rate:
        ts = carbonara.make_timeseries(ts["timestamps"][1:], numpy.diff(ts["values"]))
    rounded = carbonara.round_timestamp(ts["timestamps"], duration(granularity)).astype("int64")
    for i, start in enumerate(starts):
        if math.isfinite(values[i]):
            group = ts["values"][rounded == start]
            total = math.fsum(group) + 0.0
            values[i] = total / len(group) if base == "mean" else total
        elif base == "mean" and numpy.isfinite(ts["values"][rounded == start]).all():
            group = ts["values"][rounded == start]
            values[i] = float(sum(map(fractions.Fraction, group)) / len(group))
    return starts, values


def same_bits(a, b):
    return a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b


def equal(a, b):
    return a[0] == b[0] and all(map(same_bits, a[1], b[1]))


def nearly(a, b):
    def near(x, y):
        if not math.isfinite(x) or not math.isfinite(y):
            return same_bits(x, y)
        return x == y or abs(x - y) <= 1e-9 * max(abs(x), abs(y))
    return a[0] == b[0] and all(map(near, a[1], b[1]))


def encode(value):
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 2 ** 53 and not (value == 0 and math.copysign(1, value) < 0):
        return int(value)
    return value  # json writes repr: the shortest decimal that gives back the same bits


class Case:
    """One file: its aggregates are compared and added one granularity at a time."""

    def __init__(self, name, about, differs, **fields):
        self.name, self.differs, self.seen = name, differs, set()
        self.fields = {"name": name, "about": about, "origin": ORIGIN, **fields, "granularities": []}

    def add(self, granularity, methods, ours, gnocchi):
        """ours and gnocchi: method -> (starts, values)."""
        shared = ours[methods[0]][0]
        aggregates = []
        for method in methods:
            entry = {"method": method}
            self._put(entry, ours[method], shared)
            if not equal(ours[method], gnocchi[method]):
                rule = self._rule(granularity, method, ours[method], gnocchi[method])
                if rule:
                    entry["rule"] = rule
                    entry["gnocchi"] = {}
                    self._put(entry["gnocchi"], gnocchi[method], shared)
            aggregates.append(entry)
        self.fields["granularities"].append({
            "granularity": granularity, "starts": [s - ORIGIN for s in shared], "aggregates": aggregates})

    @staticmethod
    def _put(entry, aggregate, shared):
        if aggregate[0] != shared:
            entry["starts"] = [s - ORIGIN for s in aggregate[0]]
        entry["values"] = [encode(v) for v in aggregate[1]]

    def _rule(self, granularity, method, ours, gnocchi):
        percentile = method.endswith("pct") or method.endswith("median")
        if percentile and PERCENTILES not in self.differs and nearly(ours, gnocchi):
            return None  # the last bits, which depend on the group's place in the batch: one vector shows them
        if method.endswith(("sum", "mean")) and nearly(ours, gnocchi):
            return SUMS  # the last bits, in any case
        for rule in self.differs:
            rate = method.startswith("rate:")
            if rule == PERCENTILES and not percentile or rule == RATE and not rate:
                continue
            if rule == TIMESPAN and not rate and method != "std":
                continue
            if rule == SUMS and not method.endswith(("sum", "mean")):
                continue
            self.seen.add(rule)
            return rule
        raise SystemExit("%s: %s at %d differs undeclared:\nours    %r\ngnocchi %r" % (
            self.name, method, granularity, ours, gnocchi))

    def write(self, folder):
        if self.seen != set(self.differs):
            raise SystemExit("%s: declared %r, found %r" % (self.name, self.differs, self.seen))
        text = json.dumps(self.fields, indent=1, ensure_ascii=True, allow_nan=False)
        path = os.path.join(folder, self.name + ".json")
        with open(path, "w") as f:
            f.write(compact(text) + "\n")


def compact(text):
    """Put every list of scalars on one line, so that a change shows as a short diff."""
    out, run = [], None
    for line in text.split("\n"):
        stripped = line.strip()
        if run is None:
            if stripped.endswith("[") and not stripped.startswith("]"):
                run = [line]
            else:
                out.append(line)
        elif stripped.startswith("]"):
            out.append(run[0] + "".join(run[1:]) + stripped)
            run = None
        elif stripped.endswith("{") or stripped.endswith("["):
            out.extend([run[0]] + run[1:])  # a list of objects or lists: leave it
            run = [line] if stripped.endswith("[") else None
            if run is None:
                out.append(line)
        else:
            run.append(stripped)
    return "\n".join(out)


# Vectors.

def vector(folder, name, about, offsets, values, granularities, methods=METHODS, differs=()):
    timestamps = [ORIGIN + o for o in offsets]
    assert timestamps == sorted(set(timestamps)), name
    case = Case("vector-" + name, about, differs, offsets=offsets, values=[encode(float(v)) for v in values])
    ts = series(timestamps, values)
    for granularity in granularities:
        case.add(granularity, methods,
                 {m: aggregate_by_rules(ts, granularity, m) for m in methods},
                 {m: aggregate_like_gnocchi(ts, granularity, m) for m in methods})
    case.write(folder)


def vectors(folder):
    def values(seed, n, low, high, digits):
        r = random.Random(seed)
        return [round(r.uniform(low, high), digits) for _ in range(n)]

    def ascending(seed, n, until, unit):
        r = random.Random(seed)
        return [o * unit for o in sorted(r.sample(range(until // unit), n))]

    vector(folder, "regular", "a measure every 10 s, sorted, no gaps",
           [i * 10 * SECOND for i in range(150)], values(1, 150, 0, 100, 2), [MINUTE, 5 * MINUTE, HOUR])
    vector(folder, "gappy", "few measures at odd distances: groups of one, and long gaps",
           ascending(2, 40, 2 * HOUR, SECOND), values(3, 40, 0, 1000, 3), [10 * SECOND, MINUTE, 10 * MINUTE])
    vector(folder, "decisecond", "granularities below a second",
           ascending(4, 60, 3 * SECOND, SECOND // 1000), values(5, 60, -1, 1, 4),
           [SECOND // 10, SECOND // 2, SECOND])
    vector(folder, "quarter-second", "0.25 s is no multiple of 256 ns, so Gnocchi's group starts lose their last bits",
           ascending(6, 40, 3 * SECOND, SECOND // 1000), values(7, 40, -1, 1, 4), [SECOND // 4], differs=[GROUPS])
    vector(folder, "single", "one measure", [17 * SECOND], [42.5], [SECOND, MINUTE, HOUR],
           [m for m in METHODS if m != "std" and not m.startswith("rate:")])
    vector(folder, "single-absent", "one measure has no std and no rate: nothing is answered", [17 * SECOND], [42.5],
           [MINUTE], ["count", "std"])
    vector(folder, "negative", "values below zero, and around it",
           [i * 7 * SECOND for i in range(80)], values(8, 80, -50, 5, 3), [MINUTE, 5 * MINUTE])
    vector(folder, "offset-1e9", "a mean of 1e9 with a spread of 1",
           [i * SECOND for i in range(180)], [1e9 + v for v in values(9, 180, -1, 1, 3)], [10 * SECOND, MINUTE, HOUR])
    vector(folder, "offset-1e12", "a mean of 1e12 with a spread of 1",
           [i * SECOND for i in range(180)], [1e12 + v for v in values(9, 180, -1, 1, 2)], [10 * SECOND, MINUTE, HOUR])
    nan = values(10, 60, 0, 10, 2)
    for i in [0, 7, 13, 20, 23, 36, 37, 38, 39, 40, 41, 54, 59]:
        nan[i] = math.nan
    vector(folder, "nan", "NaN first, last, within, next to one another, and one group of nothing else",
           [i * 10 * SECOND for i in range(60)], nan, [20 * SECOND, MINUTE, 10 * MINUTE])
    inf = values(11, 84, 0, 10, 2)
    for i, v in {0: math.inf, 8: -math.inf, 17: math.inf, 18: math.inf, 19: -math.inf, 26: -math.inf, 27: -math.inf,
                 33: math.inf, 34: math.nan, 42: math.inf, 43: math.inf, 44: math.inf, 45: math.inf, 46: math.inf,
                 47: math.inf, 53: -math.inf, 54: math.inf}.items():
        inf[i] = v
    vector(folder, "infinite", "infinities of either sign: first, within, last, several, both, beside NaN",
           [i * 10 * SECOND for i in range(84)], inf, [20 * SECOND, MINUTE, 10 * MINUTE])
    vector(folder, "constant", "the same value, one that has no exact binary form",
           [i * 5 * SECOND for i in range(100)], [0.1] * 100, [MINUTE, 5 * MINUTE])
    vector(folder, "counter", "a counter beyond 2^32 that falls back to zero once",
           [i * 15 * SECOND for i in range(90)],
           [(5000000000 if i < 50 else 0) + 977 * i * i for i in range(90)], [MINUTE, 10 * MINUTE])
    vector(folder, "indivisible", "granularities that do not divide one another",
           ascending(12, 100, 10 * MINUTE, SECOND), values(13, 100, 0, 50, 1),
           [7 * SECOND, 13 * SECOND, MINUTE])
    vector(folder, "nanoseconds", "timestamps that use every digit",
           ascending(14, 60, 10 * SECOND, 1), values(15, 60, -10, 10, 5), [SECOND, 5 * SECOND, MINUTE])
    vector(folder, "boundary", "measures 1 ns, 100 ns and 1 ms before the start of a group, and at it",
           sorted(MINUTE * i + o for i in range(1, 5) for o in (-1000000, -100, -1, 0, 1)), range(20),
           [SECOND, MINUTE], ["count", "first", "last", "sum", "rate:sum"], differs=[GROUPS])
    vector(folder, "zeros", "negative zeros: a sum starts from +0",
           [i * 10 * SECOND for i in range(12)], [-0.0] * 12, [20 * SECOND, MINUTE])
    vector(folder, "tiny", "denormals", [i * 10 * SECOND for i in range(18)],
           [(i * 37 % 11) * 5e-324 for i in range(18)], [MINUTE],
           [m for m in METHODS if "median" not in m and "std" not in m and "pct" not in m])
    vector(folder, "cancelling", "sums of values that cancel: Gnocchi loses what is small; std far from zero",
           [i * SECOND for i in range(10)] + [MINUTE + i * SECOND for i in range(6)],
           [1e16, 1, -1e16, 1, 0.1, 0.2, 0.3, 1e300, -1e300, 3] + [1e15, 1e15 + 0.5] * 3,
           [MINUTE, HOUR], ["mean", "sum", "std", "min", "max", "count"], differs=[SUMS])
    vector(folder, "overflow", "sums beyond the largest float: Gnocchi's mean and median are infinite",
           [i * 10 * SECOND for i in range(18)], [1.5e308 - i * 1e305 for i in range(18)], [20 * SECOND, MINUTE],
           ["mean", "sum", "min", "max", "median", "50pct"], differs=[SUMS, PERCENTILES])
    every = ["%dpct" % p for p in range(1, 100)]
    for n in (2, 3, 11, 101):
        vector(folder, "percentiles-%d" % n, "every percentile of one group of %d measures" % n,
               [i * SECOND // 4 for i in range(n)], values(100 + n, n, -100, 100, 3), [MINUTE], every)
    vector(folder, "percentile-place", "Gnocchi adds the group's place in the batch before it splits the position "
           "into index and weight: last bits differ, and 7pct of 101 measures is next to a whole position",
           [i * SECOND // 4 + (i // 101) * MINUTE for i in range(606)],
           [math.inf if i % 101 == 50 else (i * 7919) % 1000 / 10 for i in range(606)],
           [MINUTE], ["count", "7pct", "14pct", "29pct", "57pct", "95pct", "99pct"], differs=[PERCENTILES])


# Scenarios.

class MemoryStorage(storage.StorageDriver):
    """Gnocchi's storage over dictionaries: everything but reading and writing values is its own."""

    WRITE_FULL = True
    MAP_METHOD = staticmethod(utils.sequencial_map)

    def __init__(self):
        super(MemoryStorage, self).__init__(None)
        self.raw, self.splits = {}, collections.defaultdict(dict)

    def _get_or_create_unaggregated_timeseries_unbatched(self, metric, version=3):
        return self.raw.get(metric)

    def _store_unaggregated_timeseries_unbatched(self, metric, data, version=3):
        self.raw[metric] = data

    def _get_splits_unbatched(self, metric, key, aggregation, version=3):
        return self.splits[metric, aggregation].get(key)

    def _store_metric_splits_unbatched(self, metric, key, aggregation, data, offset, version=3):
        self.splits[metric, aggregation][key] = data

    def _list_split_keys_unbatched(self, metric, aggregations, version=3):
        return {a: set(self.splits[metric, a]) for a in aggregations}

    def _delete_metric_splits_unbatched(self, metric, key, aggregation, version=3):
        del self.splits[metric, aggregation][key]


class Metric:
    def __init__(self, policy):
        self.id, self.archive_policy = "golden", policy


def scenario_like_gnocchi(policy, requests):
    driver, metric = MemoryStorage(), Metric(policy)
    for timestamps, values in requests:
        driver.add_measures_to_metrics({metric: series(timestamps, values)})
    aggregations = policy.aggregations
    answer = driver.get_aggregated_measures({metric: aggregations})[metric]
    return {(a.granularity.astype("int64").item(), a.method): pairs(answer[a].ts) for a in aggregations}


def scenario_by_rules(policy, requests):
    """All measures that the back window lets in, aggregated at once. Also returns how many each request lost."""
    block = policy.max_block_size.astype("int64").item()
    window = policy.back_window + any(m.startswith("rate:") for m in policy.aggregation_methods)
    accepted, dropped = {}, []
    for timestamps, values in requests:
        oldest = None
        if accepted:
            newest = max(accepted)
            oldest = newest - newest % block - window * block
        lost = 0
        for t, v in zip(timestamps, values):
            if oldest is not None and t < oldest:
                lost += 1
            else:
                accepted[t] = v
        dropped.append(lost)
    timestamps = sorted(accepted)
    ts = series(timestamps, [accepted[t] for t in timestamps])
    answer = {}
    for a in policy.aggregations:
        granularity = a.granularity.astype("int64").item()
        starts, values = aggregate_by_rules(ts, granularity, a.method)
        if a.timespan is not None:
            oldest = timestamps[-1] - timestamps[-1] % granularity - a.timespan.astype("int64").item()
            kept = [i for i, s in enumerate(starts) if s > oldest]
            starts, values = [starts[i] for i in kept], [values[i] for i in kept]
        answer[granularity, a.method] = starts, values
    return answer, dropped


def scenario(folder, name, about, definition, methods, requests, back_window=0, differs=()):
    """definition: (granularity, points or None); requests: lists of (offset, value)."""
    policy = archive_policy.ArchivePolicy(
        name, back_window,
        [archive_policy.ArchivePolicyItem(granularity=duration(g), points=p) for g, p in definition], methods)
    absolute = [([ORIGIN + o for o, _ in r], [float(v) for _, v in r]) for r in requests]
    ours, dropped = scenario_by_rules(policy, absolute)
    gnocchi = scenario_like_gnocchi(policy, absolute)
    case = Case(
        "scenario-" + name, about, differs,
        policy={"back_window": back_window, "methods": methods,
                "definition": [{"granularity": g, "points": p or 0} for g, p in definition]},
        requests=[{"offsets": [o for o, _ in r], "values": [encode(float(v)) for _, v in r], "dropped": d}
                  for r, d in zip(requests, dropped)])
    for g, _ in sorted(definition):
        case.add(g, methods, {m: ours[g, m] for m in methods}, {m: gnocchi[g, m] for m in methods})
    case.write(folder)


def scenarios(folder):
    moments = ["count", "sum", "mean", "min", "max", "std", "first", "last"]
    ordered = moments + ["median", "95pct"]
    rates = ["count", "sum", "rate:count", "rate:mean", "rate:max", "rate:std", "rate:last", "rate:95pct"]

    def measures(seed, n, start, end, digits=1):
        r = random.Random(seed)
        offsets = sorted(r.sample(range(start // SECOND, end // SECOND), n))
        return [(o * SECOND, round(r.uniform(-20, 100), digits)) for o in offsets]

    line = [(i * 10 * SECOND, (i * 37) % 23 + i / 8) for i in range(120)]
    scenario(folder, "in-order", "every request later than the one before; some end within a group",
             [(MINUTE, 100), (5 * MINUTE, 100)], ordered,
             [line[:1], line[1:4], line[4:30], line[30:31], line[31:90], line[90:]])
    scenario(folder, "one-at-a-time", "a request for every measure",
             [(MINUTE, 100), (5 * MINUTE, 100)], ordered, [[m] for m in line[:40]])
    scenario(folder, "unsorted", "a request may come in any order",
             [(MINUTE, 100)], moments, [line[10:20][::-1] + line[:10], line[25:30] + line[20:25]])
    scenario(folder, "late-within-block", "back window 0: late measures of the open block of the coarsest granularity",
             [(MINUTE, 100), (5 * MINUTE, 100)], ordered, [line[:2] + line[5:12], line[3:5], line[20:21], line[13:20]])
    scenario(folder, "late-dropped", "back window 0: the block before the newest measure's is closed, up to its last "
             "nanosecond; the newest is judged as earlier requests left it",
             [(MINUTE, None)], moments,
             [[(70 * SECOND, 1)], [(MINUTE - 1, 2), (MINUTE, 3), (5 * MINUTE, 4), (65 * SECOND, 5)],
              [(4 * MINUTE + 59 * SECOND, 6), (5 * MINUTE, 7)]])
    scenario(folder, "first-request", "a metric's first request is never cut, however long",
             [(MINUTE, None), (5 * MINUTE, None)], ordered, [line, line[:3] + [(line[-1][0] + SECOND, 7)]])
    scenario(folder, "back-window-2", "two older blocks still accept measures",
             [(MINUTE, 100)], ordered, [measures(20, 20, 0, 10 * MINUTE), measures(21, 20, 5 * MINUTE, 12 * MINUTE),
                                        measures(22, 20, 6 * MINUTE, 15 * MINUTE)], back_window=2)
    scenario(folder, "back-window-coarsest", "blocks are of the coarsest granularity, for all of them",
             [(10 * SECOND, 500), (5 * MINUTE, 100)], moments,
             [[(16 * MINUTE, 1)], [(6 * MINUTE, 2), (5 * MINUTE + 59 * SECOND, 3), (7 * MINUTE, 4), (0, 5)]],
             back_window=1)
    scenario(folder, "all-dropped", "a request of which nothing is left changes nothing",
             [(MINUTE, 100)], ordered, [measures(23, 20, 0, 10 * MINUTE), [(0, 99), (MINUTE, 98)], line[60:62]])
    scenario(folder, "equal-across", "of equal timestamps in different requests the later request's counts",
             [(MINUTE, 100)], ordered, [line[:6], [(line[2][0], 50), (line[4][0], -50)], [(line[2][0], 3)]])
    scenario(folder, "equal-within", "of equal timestamps in one request the last counts; Gnocchi takes the smallest",
             [(MINUTE, 100)], moments,
             [[(0, 5), (0, 3), (0, 9)], [(SECOND, 2), (SECOND, math.nan), (SECOND, 1.5)], [(2 * SECOND, 7)]],
             differs=[EQUAL])
    scenario(folder, "timespan", "aggregates further back than points x granularity before the newest are gone",
             [(10 * SECOND, 6), (MINUTE, 5)], ordered, [line[:20], line[20:40], line[40:63]])
    scenario(folder, "timespan-first-request", "a first request longer than the timespan",
             [(10 * SECOND, 6), (MINUTE, 5)], ordered, [line])
    scenario(folder, "timespan-jump", "a single measure far ahead leaves nothing else",
             [(10 * SECOND, 6), (MINUTE, None)], moments[:-3], [line[:20], [(HOUR, 1), (HOUR + SECOND, 2)]])
    scenario(folder, "timespan-std", "the newest group has one measure, so no std: Gnocchi counts the timespan of std "
             "from its own newest aggregate, we from the newest group of the granularity",
             [(MINUTE, 3)], ["count", "std"], [line[:31]], differs=[TIMESPAN])
    scenario(folder, "split-edge", "groups on both sides of the edge of a split, and splits that go away",
             [(SECOND, 4000), (MINUTE, None)], ["count", "sum", "max"],
             [[(o, i) for i, o in enumerate([0, 50 * MINUTE, 53 * MINUTE + 19 * SECOND, 53 * MINUTE + 20 * SECOND])],
              [(h * HOUR + m * MINUTE, h + m) for h in range(1, 5) for m in (0, 7, 53)]])
    r = random.Random(24)
    jumbled = []
    for i in range(12):
        start = i * 4 * MINUTE - r.randrange(0, 6) * MINUTE
        jumbled.append(measures(30 + i, r.randrange(1, 12), max(start, 0), max(start, 0) + 8 * MINUTE))
    jumbled.append([(51 * MINUTE + i * SECOND, i * i) for i in range(4)])  # the newest group has a std
    scenario(folder, "jumbled", "overlapping requests, some measures too late",
             [(30 * SECOND, 40), (MINUTE, 30), (5 * MINUTE, None)], ordered, jumbled, back_window=1)
    bad = [(o, {0: math.nan, 3: math.inf, 5: -math.inf}.get(i % 11, v)) for i, (o, v) in enumerate(line[:60])]
    scenario(folder, "not-finite", "NaN and infinities over several requests",
             [(MINUTE, 100), (5 * MINUTE, 100)], [m for m in ordered],
             [bad[:4], bad[4:11], bad[11:12], bad[12:40], bad[40:]])
    scenario(folder, "indivisible", "7 s does not divide 60 s: Gnocchi drops raw measures in the middle of a group of "
             "7 s, and computes that group again from what is left",
             [(7 * SECOND, 200), (MINUTE, 100)], ["count", "sum"], [[(i * SECOND, i)] for i in range(130)],
             differs=[ALL_MEASURES])
    scenario(folder, "rate-one-request", "differences of consecutive measures, at the later one's timestamp",
             [(MINUTE, 100), (5 * MINUTE, 100)], rates, [line[:50]])
    scenario(folder, "rate-in-order", "differences across requests, without gaps",
             [(MINUTE, 100), (5 * MINUTE, 100)], rates, [line[:1], line[1:4], line[4:30], line[30:31], line[31:50]])
    scenario(folder, "rate-gap", "a gap of more than a group between two requests: Gnocchi looks back for one group "
             "only and loses the difference",
             [(MINUTE, 100), (5 * MINUTE, 100)], rates, [line[:8], line[40:50]], differs=[RATE])
    scenario(folder, "rate-block", "a rate keeps one more block open, for the other methods too",
             [(MINUTE, 100)], ["count", "sum", "rate:sum"],
             [line[:16], [(MINUTE + 5 * SECOND, 7), (MINUTE - 1, 8)], line[16:20]], differs=[RATE])
    scenario(folder, "rate-late", "a late measure changes the difference after it, in a later group too",
             [(MINUTE, 100)], rates, [line[:3] + line[7:9], [line[5]]], back_window=2)
    scenario(folder, "rate-jumbled", "overlapping requests under a policy with rates",
             [(MINUTE, 30), (5 * MINUTE, None)], rates, jumbled, back_window=1, differs=[RATE])


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: golden.py FOLDER")
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        if name.endswith(".json"):
            os.unlink(os.path.join(folder, name))
    vectors(folder)
    scenarios(folder)
    sizes = [os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder)]
    print("%d files, %d bytes" % (len(sizes), sum(sizes)))


if __name__ == "__main__":
    main()
