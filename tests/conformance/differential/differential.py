#!/usr/bin/env python3
"""Send the same requests to two servers and show where the answers differ: status, body, headers.

    differential.py GNOCCHI_URL GNOCCO_URL FILE [FILE ...]

Both have to be empty, without archive policies. The files are api/testdata/bad_input.txt, which says how they are written, and
scenario.txt here. Besides what is said there, a request may have the lines

    As: NAME            the user; admin otherwise
    Differs: REASON     that the answers differ is known; docs/reference/compatibility.md has the reason at length
    Ours: REASON        not sent

IDs are compared by the order in which they first appear, times of these days by their presence. The exit status is 1 if there is a
difference of which no reason is given, or a reason without a difference. Where Gnocchi fails with 500, any refusal will do.
"""

import base64
import collections
import datetime
import difflib
import json
import re
import sys
import urllib.error
import urllib.request

HEADERS = ("Content-Type", "Location", "Link", "Allow", "ETag", "Last-Modified", "WWW-Authenticate")
UUID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")  # random, or of a time: those of names are the same
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00)?")
Step = collections.namedtuple("Step", "place save method path headers body known")


def read(path):
    """The requests of a file."""
    with open(path) as file:
        lines = [(number, line.rstrip("\n")) for number, line in enumerate(file, 1)]
    blocks, block = [], []
    for number, line in lines + [(0, "")]:
        if line.strip() and (block or not line.startswith("#")):
            block.append((number, line))
        elif block and not line.strip():
            blocks.append(block)
            block = []
    for block in blocks:
        number, request = block[0]
        words = request.split(" -> ")[0].split(" ")
        save = None
        if words[0] == "setup":
            words.pop(0)
            save = words.pop(0) if len(words) == 3 else None
        headers, body, known = {"Content-Type": "application/json"}, [], None
        for _, line in block[1:]:
            if line == "----":
                break
            match = re.match("([A-Z][A-Za-z-]+): (.*)$", line)
            if match and not body and match[1] in ("Differs", "Ours"):
                known = match
            elif match and not body:
                headers[match[1]] = match[2]
            else:
                body.append(line)
        yield Step("%s:%d" % (path, number), save, words[0], words[1], headers, "\n".join(body), known)


class Server:
    def __init__(self, url):
        self.url, self.names, self.ids = url.rstrip("/"), {}, {}

    def send(self, step):
        """The answer in a form that can be compared: a list of lines."""
        fill = lambda text: re.sub(r"\$(\w+)", lambda m: self.names.get(m[1], m[0]), text)
        # Gnocchi knows no JSON where it has nothing to answer: refusals are text there, and only their status is compared.
        plain = step.method == "DELETE" or "/prometheus/" in step.path
        headers = {"Accept": "*/*" if plain else "application/json", **step.headers}
        user = headers.pop("As", "admin")
        if user != "nobody":
            headers["Authorization"] = "Basic " + base64.b64encode((user + ":").encode()).decode()
        headers = {name: value for name, value in headers.items() if value}
        request = urllib.request.Request(self.url + fill(step.path), method=step.method, headers=headers,
                                         data=fill(step.body).encode() if step.body else None)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=30) as answer:
                status, got, text = answer.status, answer.headers, answer.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as answer:
            status, got, text = answer.code, answer.headers, answer.read().decode("utf-8", "replace")
        if plain and status >= 400 or status == 500:
            return ["%d" % status]
        try:
            value = json.loads(text, object_hook=ordered)
            if step.save:
                self.names[step.save] = value["id"]
            text = json.dumps(value, indent=1, sort_keys=True)
        except (ValueError, KeyError, TypeError):
            if step.save:
                print("%s: %s has no %s: %d %s" % (step.place, self.url, step.save, status, text[:200]))
        lines = ["%d" % status] + text.splitlines()
        for name in HEADERS:
            value = got.get(name)
            if name == "Content-Type" and not text:
                value = None  # of nothing
            if name in ("ETag", "Last-Modified") and value:
                value = "..."
            if value is not None:
                lines.append("%s: %s" % (name, value.replace("; charset=UTF-8", "")))
        return [self.plain(line) for line in lines]

    def plain(self, line):
        line = UUID.sub(lambda m: "ID%d" % self.ids.setdefault(m[0], len(self.ids) + 1), line.replace(self.url, "URL"))
        now = datetime.datetime.now()

        def blank(match):
            return "NOW" if abs(datetime.datetime.fromisoformat(match[0][:19]) - now).days < 2 else match[0]

        return TIME.sub(blank, line)


def ordered(value):
    """Sets are listed in any order, and that nothing more is known may be said in two ways."""
    if "aggregation_methods" in value:
        value["aggregation_methods"] = sorted(map(str, value["aggregation_methods"]))
    if value.get("description", "") is None:
        value["description"] = ""
    return value


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    servers = Server(sys.argv[1]), Server(sys.argv[2])
    count = collections.Counter()
    for path in sys.argv[3:]:
        for step in read(path):
            if step.known and step.known[1] == "Ours":
                continue
            first, second = [server.send(step) for server in servers]
            outcome = "same" if first == second else "different"
            if first[0] == "500" and second[0][0] == "4":
                outcome = "500 there"
            elif step.known:
                outcome = "known" if first != second else "no longer different"
            count[outcome] += 1
            if outcome in ("same", "known", "500 there"):
                continue
            print("%s: %s %s %s %s" % (step.place, outcome, step.method, step.path, step.body[:150]))
            for line in difflib.unified_diff(first, second, lineterm="", n=0):
                if line[:3] not in ("---", "+++", "@@ "):
                    print("    " + line[:300])
    print(", ".join("%d %s" % (n, outcome) for outcome, n in count.items()))
    return 1 if count["different"] or count["no longer different"] else 0


if __name__ == "__main__":
    sys.exit(main())
