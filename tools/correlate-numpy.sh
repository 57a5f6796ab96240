#!/usr/bin/env bash
# Hold `gnocco-correlate` to numpy, on the same files: within 1e-12 of a two-pass computation in long double. Without numpy
# nothing is run, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import numpy' 2>/dev/null || { echo "skipped: numpy is not installed (python3-numpy)"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go -C cmd/gnocco-correlate build -trimpath -o "$work/" .
"$python" - "$work" <<'EOP'
import subprocess, sys
import numpy
work = sys.argv[1]
random = numpy.random.default_rng(7)
def check(name, values):
    path = f"{work}/{name}.csv"
    with open(path, "w") as out:
        out.write(",".join(f"c{j}" for j in range(values.shape[1])) + "\n")
        for row in values:
            out.write(",".join("" if numpy.isnan(v) else repr(float(v)) for v in row) + "\n")
    text = subprocess.run([f"{work}/gnocco-correlate", "--quiet", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    worst = pairs = 0
    for line in text.splitlines():
        index, r = line.split()
        i, j = map(int, index.strip("()").split(","))
        both = ~numpy.isnan(values[:, i]) & ~numpy.isnan(values[:, j])
        x, y = values[both, i].astype(numpy.longdouble), values[both, j].astype(numpy.longdouble)
        x, y = x - x[0], y - y[0]
        x, y = x - x.mean(), y - y.mean()
        worst = max(worst, abs(float((x @ y) / numpy.sqrt((x @ x) * (y @ y))) - float(r)))
        pairs += 1
    print(f"{name}: {pairs} pairs, {worst:.1e} off at most")
    assert pairs == values.shape[1] * (values.shape[1] - 1) // 2 and worst < 1e-12
common = random.standard_normal((20_000, 1))
noise = random.standard_normal((20_000, 12))
check("random", common + noise)
check("large-mean", 1e8 + common + noise)
check("heavy-tails", common + noise ** 5)
gaps = 1e6 + common + noise
gaps[random.random(gaps.shape) < 0.2] = numpy.nan
check("gaps", gaps)
EOP
