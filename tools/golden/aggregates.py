#!/usr/bin/python3
"""Write the golden vectors of package query/aggregates: what Gnocchi's processor answers to operations on series.

Run with the Python that has Debian's python3-gnocchi (4.4.2):

    /usr/bin/python3 tools/golden/aggregates.py query/aggregates/testdata/golden.json

The operators and fills that came after 4.4.2 (max, rateofchangesec, forward and backward fills) are added here in terms of
numpy, as its release notes describe them. Sums are rounded once, as in golden.py, and so are the means of std and var. Each case holds the series of one granularity, the request, and either the
columns that come out or the reason why none do. Deterministic: the seeds are fixed, and no clock is read.
"""

import fractions
import json
import math
import random
import sys
import warnings

import numpy

if not hasattr(numpy, "int"):
    numpy.int = int  # Gnocchi 4.4.2 still uses the alias that NumPy 1.24 took away

from gnocchi import carbonara  # noqa: E402
from gnocchi.rest.aggregates import exceptions  # noqa: E402
from gnocchi.rest.aggregates import operations  # noqa: E402
from gnocchi.rest.aggregates import processor  # noqa: E402

warnings.simplefilter("ignore")
SECOND = 10 ** 9
ORIGIN = 1700000040
NAN, INF = float("nan"), float("inf")

operations.binary_operators["max"] = numpy.fmax


def per_second(t, v):
    out = numpy.full(v.shape, NAN)
    if len(t) > 1:
        seconds = (t[1:] - t[:-1]) / numpy.timedelta64(1, "s")
        out[1:] = (v[1:].astype(float) - v[:-1].astype(float)) / seconds[:, None]
    return t, out


def total(values):
    """The sum of what is not NaN, rounded once; numpy's if that is not finite."""
    values = values[~numpy.isnan(values)]
    return math.fsum(values) + 0.0 if numpy.isfinite(values).all() else numpy.sum(values)


def variance(values):
    values = values[~numpy.isnan(values)]
    if not len(values) or not numpy.isfinite(values).all():
        return numpy.var(values)
    mean = sum(fractions.Fraction(float(v)) for v in values) / len(values)
    high = float(mean)
    low, squares = float(mean - fractions.Fraction(high)), 0.0
    for v in values:
        squares += (v - high - low) ** 2
    return squares / len(values)


def along(function, values, axis):
    if values.size == 0:
        return numpy.nansum(values, axis=axis)
    return numpy.apply_along_axis(function, axis, values)


AGG_MAP = operations.AGG_MAP
AGG_MAP["sum"] = lambda values, axis: along(total, values, axis)
AGG_MAP["mean"] = lambda values, axis: along(total, values, axis) / AGG_MAP["count"](values, axis)
AGG_MAP["var"] = lambda values, axis: along(variance, values, axis)
AGG_MAP["std"] = lambda values, axis: numpy.sqrt(along(variance, values, axis))


def sums_of_groups(values, counts):
    groups = numpy.split(values, numpy.cumsum(counts)[:-1])[:len(counts)]
    return numpy.array([NAN if numpy.isnan(group).any() else total(group) for group in groups], dtype=float)


carbonara.GroupedTimeSeries._sum = staticmethod(sums_of_groups)

RESAMPLE = ["mean", "median", "std", "min", "max", "sum", "count", "rate:mean", "rate:max", "last", "first", "95pct", "7pct"]
operations.unary_operators_with_timestamps["rateofchangesec"] = per_second
for method in RESAMPLE:  # 4.4.2's schema takes fewer methods for resample than its code can do
    AGG_MAP.setdefault(method, None)

from gnocchi.rest.aggregates import api  # noqa: E402  its schema is made of the operators when it is imported


def carried(values, forward):
    """Each NaN becomes the value before it (after it, unless forward)."""
    out = values.copy()
    rows = range(len(out)) if forward else range(len(out) - 1, -1, -1)
    last = NAN
    for i in rows:
        if math.isnan(out[i]):
            out[i] = last
        last = out[i]
    return out


FILLS = {"ffill": [True], "bfill": [False], "full_ffill": [True, False], "full_bfill": [False, True]}


class Metric:
    def __init__(self, name):
        self.id = name


def series(granularity, points):
    aggregation = carbonara.Aggregation("mean", numpy.timedelta64(granularity, "s"), None)
    return carbonara.AggregatedTimeSerie.from_data(
        aggregation, numpy.array([(ORIGIN + t) * SECOND for t, _ in points], dtype="datetime64[ns]"),
        numpy.array([v for _, v in points], dtype=float))


def carry(granularity, data, fill):
    """The series with the gaps filled that the union of their timestamps shows."""
    times = sorted({t for points in data.values() for t, _ in points})
    filled = {}
    for name, points in data.items():
        known = dict(points)
        values = numpy.array([known.get(t, NAN) for t in times])
        for forward in FILLS[fill]:
            values = carried(values, forward)
        filled[name] = list(zip(times, values))
    return filled


def ask(granularity, data, text, fill, overlap, start, stop):
    tree = api.OperationsSchema(text)
    used = carry(granularity, data, fill) if fill in FILLS else data
    references = [processor.MetricReference(Metric(name), agg) for name, agg in api.extract_references(tree)]
    pairs = [(ref, series(granularity, used[ref.name])) for ref in references]
    at = lambda t: None if t is None else numpy.datetime64((ORIGIN + t) * SECOND, "ns")  # noqa: E731
    given = {None: None, "dropna": "dropna", "null": "null"}.get(fill, "dropna" if fill in FILLS else fill)
    out = processor.aggregated(pairs, tree, at(start), at(stop), overlap, given)
    columns = []
    if "aggregated" in out:
        columns.append({"name": "", "rows": out["aggregated"]})
    else:
        columns += [{"name": name, "rows": rows} for name, by in out.items() for rows in by.values()]
    width = None
    for column in columns:
        rows = column.pop("rows")
        for _, g, _ in rows:
            width = int(g / numpy.timedelta64(1, "s"))
        column["starts"] = [int(t.astype("datetime64[s]").astype(int)) - ORIGIN for t, _, _ in rows]
        column["values"] = [encode(float(v)) for _, _, v in rows]
    return {"columns": columns, "granularity": width}


def encode(value):
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return value


def some(rng, count, gaps, odd):
    points = []
    for i in range(count):
        if rng.random() < gaps:
            continue
        value = round(rng.uniform(-100, 100), 3) if rng.random() < 0.7 else float(rng.randint(-5, 5))
        if odd and rng.random() < 0.15:
            value = rng.choice([NAN, INF, -INF, 0.0])
        points.append((i * 60, value))
    return points


METRICS = "(metric (a mean) (b mean) (c mean))"
ACROSS = [rate + m for rate in ("", "rate:") for m in ("mean", "median", "std", "min", "max", "sum", "var", "count")]


def texts():
    yield METRICS
    yield "(metric a mean)"
    for op in sorted(operations.binary_operators):
        yield "(%s %s 3.5)" % (op, METRICS)
        yield "(%s 2 %s)" % (op, METRICS)
        yield "(%s (metric a mean) (metric b mean))" % op
        yield "(%s %s (metric c mean))" % (op, METRICS)
    for op in ("+", "*", "max", "=="):
        yield "(%s (> (metric a mean) 0) (> (metric b mean) 0))" % op
    for op in sorted(operations.unary_operators) + ["rateofchange", "rateofchangesec"]:
        yield "(%s %s)" % (op, METRICS)
    yield "(rateofchange (> %s 0))" % METRICS
    yield "(rateofchangesec (aggregate sum %s))" % METRICS
    yield "(clip %s -10 20)" % METRICS
    yield "(clip %s -10)" % METRICS
    yield "(clip (metric a mean) (metric b mean) (metric c mean))"
    yield "(clip %s 20 -10)" % METRICS
    for m in ACROSS:
        yield "(aggregate %s %s)" % (m, METRICS)
        for window in (1, 3, 11):
            yield "(rolling %s %d %s)" % (m, window, METRICS)
    yield "(aggregate max (> %s 3))" % METRICS
    yield "(aggregate sum (> %s 3))" % METRICS
    yield "(rolling max 2 (> (metric a mean) 3))"
    for m in RESAMPLE:
        yield "(resample %s 180 %s)" % (m, METRICS)
        yield "(resample %s 300 (metric a mean))" % m
    yield "(aggregate mean (resample max 120 (/ %s (metric a mean))))" % METRICS
    yield "(/ (* 100 (aggregate mean (metric a mean))) 0)"
    yield "(+ (resample mean 120 (metric a mean)) (metric b mean))"
    yield "(- (rateofchange (metric a mean)) (rateofchange (metric b mean)))"
    yield "(negative (absolute (aggregate mean %s)))" % METRICS


def main(path):
    rng = random.Random(20)
    tables = {
        "same timestamps": {name: some(rng, 16, 0, False) for name in "abc"},
        "gaps": {name: some(rng, 24, 0.3, False) for name in "abc"},
        "gaps and values that are not finite": {name: some(rng, 24, 0.3, True) for name in "abc"},
        "one without aggregates": {"a": some(rng, 8, 0, False), "b": [], "c": some(rng, 12, 0.5, False)},
        "no timestamp in common": {"a": [(0, 1.0), (60, 2.0)], "b": [(120, 3.0)], "c": [(300, 4.0), (420, 5.5)]},
        "nothing": {"a": [], "b": [], "c": []},
    }
    cases, crashed = [], 0
    for about, data in tables.items():
        for text in list(texts()):
            requests = [("null", None, None, None)]
            if "finite" in about:
                requests.append(("dropna", None, None, None))
            if text in (METRICS, "(aggregate mean %s)" % METRICS, "(aggregate sum %s)" % METRICS, "(resample mean 180 %s)" % METRICS):
                requests += [(f, None, None, None) for f in (0.0, -2.5, *FILLS)]
                requests += [(None, o, a, b) for o in (0.0, 30.0, 50.0, 100.0) for a in (None, 90) for b in (None, 600)]
                requests += [("dropna", None, 90, None), ("null", None, 61, 420)]
            for fill, overlap, start, stop in requests:
                case = {"table": about, "operations": text, "fill": fill, "overlap": overlap, "start": start, "stop": stop}
                try:
                    case.update(ask(60, data, text, fill, overlap, start, stop))
                except exceptions.UnAggregableTimeseries as e:
                    case["error"] = e.reason.split(" with different granularity")[0]
                except (TypeError, ValueError, IndexError, RuntimeError, AttributeError, KeyError):
                    crashed += 1  # Gnocchi answers 500: what we answer is our own matter
                    continue
                cases.append(case)
    encoded = {about: {name: [[t, encode(v)] for t, v in points] for name, points in data.items()} for about, data in tables.items()}
    with open(path, "w") as out:
        out.write('{"origin": %d,\n"tables": %s,\n"cases": [\n' % (ORIGIN, json.dumps(encoded)))
        out.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in cases))
        out.write("\n]}\n")
    print("%d cases, %d left out because Gnocchi fails" % (len(cases), crashed))


if __name__ == "__main__":
    main(sys.argv[1])
