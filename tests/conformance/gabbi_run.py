#!/usr/bin/env python3
"""Run a folder of gabbi's YAML files against a server that listens already.

    gabbi_run.py --folder DIR --url http://127.0.0.1:8041/gnocchi [option ...] [FILE.yaml ...]

The files are Gnocchi's functional tests, of whatever release; we hold none of them. Each wants an empty server of its own, so
--reset is run before each, and has to return when that server answers. What the files call fixtures is left out.

The last line counts: a known failure is a test skipped. The exit status is 1 if any other test failed, or if a known failure
passed, which means that the list is out of date.
"""

import argparse
import math
import os
import subprocess
import sys
import unittest
import warnings

import urllib3
import yaml
from gabbi import handlers, httpclient, suitemaker, utils


class AnyNaN:
    """What !AssertNAN stands for."""

    def __eq__(self, other):
        return isinstance(other, float) and math.isnan(other)

    def __repr__(self):
        return "NaN"


class Outcomes(unittest.TestResult):
    """The names of tests, in order, by what became of them; of those that failed, why."""

    def __init__(self):
        super().__init__()
        self.failed, self.passed, self.skipped_names = {}, [], []

    def _failed(self, test, err):
        self.failed[test.test_data["name"]] = "%s: %s" % (err[0].__name__, err[1])

    addError = addFailure = _failed

    def addSkip(self, test, reason):
        self.skipped_names.append(test.test_data["name"])

    def stopTest(self, test):
        name = test.test_data["name"]
        if name not in self.failed and name not in self.skipped_names:
            self.passed.append(name)  # also what the file itself expects to fail
        super().stopTest(test)


def limit_time(seconds):
    """A server that does not answer fails its test."""
    make = httpclient.get_http

    def with_timeout(**options):
        client = make(**options)
        client.connection_pool_kw["timeout"] = urllib3.Timeout(seconds)
        return client

    httpclient.get_http = with_timeout


def run(path, url):
    host, port, prefix, _ = utils.host_info_from_target(url)
    outcomes = Outcomes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        suite = suitemaker.test_suite_from_dict(
            unittest.TestLoader(), os.path.basename(path)[:-len(".yaml")], utils.load_yaml(yaml_file=path),
            os.path.dirname(path), host, port, None, None, prefix=prefix,
            handlers=[handler() for handler in handlers.RESPONSE_HANDLERS])
        suite.run(outcomes)
    return outcomes


def read_list(path):
    """The lines of a file that are neither empty nor comments."""
    if not path:
        return []
    with open(path) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, help="where the YAML files are")
    parser.add_argument("--url", required=True, help="of the server, with its mount prefix")
    parser.add_argument("--reset", help="command that empties the server")
    parser.add_argument("--known-failures", help='file with lines "FILE.yaml: name of the test"')
    parser.add_argument("--timeout", type=float, default=60, help="of a request, in seconds (60)")
    parser.add_argument("--reasons", action="store_true", help="say why tests failed")
    parser.add_argument("files", nargs="*", help="names of files; all if none")
    args = parser.parse_args()

    for loader in (yaml.SafeLoader, yaml.Loader):
        loader.add_constructor("!AssertNAN", lambda loader, node: AnyNaN())
    limit_time(args.timeout)
    names = sorted(name for name in os.listdir(args.folder) if name.endswith(".yaml") and not name.startswith("."))
    wanted = {os.path.basename(name) for name in args.files}
    if wanted - set(names):
        parser.error("not in %s: %s" % (args.folder, ", ".join(sorted(wanted - set(names)))))
    known = set(read_list(args.known_failures))

    passed, failed, skipped, stale = 0, 0, 0, 0
    for name in names:
        if wanted and name not in wanted:
            continue
        if args.reset and subprocess.run(args.reset, shell=True, stdin=subprocess.DEVNULL).returncode != 0:
            sys.exit("gabbi_run: %s failed before %s" % (args.reset, name))
        outcomes = run(os.path.join(args.folder, name), args.url)
        expected = [test for test in outcomes.failed if "%s: %s" % (name, test) in known]
        passed += len(outcomes.passed)
        failed += len(outcomes.failed) - len(expected)
        skipped += len(outcomes.skipped_names) + len(expected)
        print("%-40s %4d passed, %d failed, %d skipped" % (
            name, len(outcomes.passed), len(outcomes.failed) - len(expected), len(outcomes.skipped_names) + len(expected)), flush=True)
        for test, reason in outcomes.failed.items():
            if test not in expected or args.reasons:
                print("FAILED%s %s: %s" % (" as known" if test in expected else "", name, test))
            if args.reasons:
                print("    " + " ".join(reason.split())[:1000])
        for test in outcomes.passed:
            if "%s: %s" % (name, test) in known:
                print("PASSED though known to fail %s: %s" % (name, test))
                stale += 1
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or stale else 0


if __name__ == "__main__":
    sys.exit(main())
