"""Abuses a site: abuse.py sqlite|postgres FOLDER-OF-PYTHON-TOOLS. Prints a table; exit 1 if something was missed.

Parts: `api` (schemathesis), `bodies` (hostile requests), `slow` (slow and idle clients), `limits` (of writes). PARTS names some.
"""

import asyncio
import collections
import copy
import gzip
import http.client
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import under_test
from under_test import Database, Run, Site, request, table

EXAMPLES = int(os.environ.get("EXAMPLES", "10000"))
IDLE = int(os.environ.get("IDLE", "10000"))
# Longest time until a hostile request is answered, seconds, and most memory, MiB.
MOST_S, MOST_MIB = 20, 512
HONEST = "127.0.9.1"
HOSTILE_TEXTS = {
    "NUL": "a\0b",
    "control characters": "a\x1b[31m\x07\x7f\x85b",
    "right to left": "\u202egnp.exe\u2066",
    "script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "SQL": "'; drop table records; --",
    "SQL, second": "\" or 1=1 union select token_hash from records--",
    "path": "../../../etc/passwd\\..\\",
    "format": "%s%n{0}${jndi:ldap://x}{{7*7}}",
    "line ends": "a\r\nset-cookie: b\u2028\u2029",
    "beyond the plane": "\U0001f469\u200d\U0001f4bb\uffff\U0010ffff" + "e\u0301\u0302" * 20,
    "long": "x" * 70_000,
    "empty": "",
}


class Rows:
    """Results by case, and what was missed."""

    def __init__(self):
        self.rows, self.missed = [], []

    def add(self, case, answers, longest_s, missed=()):
        statuses = ", ".join(f"{status}: {count}" for status, count in sorted(answers.items(), key=str))
        self.rows.append([case, sum(answers.values()), statuses, f"{longest_s:.2f} s", len(list(missed))])
        self.missed += [f"{case}: {text}" for text in missed[:5]]
        print(f"{case}: {statuses}; longest {longest_s:.2f} s", flush=True)


class Case:
    """Hostile requests of one kind: none may fail the site, none may hang, each refusal has a reason."""

    def __init__(self, rows, name, site):
        self.rows, self.name, self.site = rows, name, site
        self.answers, self.longest, self.missed = collections.Counter(), 0, []

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.rows.add(self.name, self.answers, self.longest, self.missed)

    def ask(self, method, path, headers=None, body=None, expected=None, what=""):
        began = time.monotonic()
        try:
            status, answered, text = request(self.site.port, method, path, headers, body, timeout=60)
        except (OSError, http.client.HTTPException) as error:
            self.missed.append(f"{what or path}: {error!r}")
            return 0, {}, b""
        self.judge(status, answered, text, time.monotonic() - began, what or f"{method} {path[:80]}", expected)
        return status, answered, text

    def judge(self, status, headers, text, took, what, expected=None):
        self.answers[status] += 1
        self.longest = max(self.longest, took)
        if status >= 500 and status != 503:
            self.missed.append(f"{what}: {status} {text[:200]}")
        elif expected and status not in expected:
            self.missed.append(f"{what}: {status} instead of {expected}: {text[:300]}")
        elif took > MOST_S:
            self.missed.append(f"{what}: {took:.1f} s")
        # The head itself was too large: no handler saw it.
        elif status >= 400 and status != 431:
            try:
                has_reason = headers["content-type"] == "application/problem+json" and len(json.loads(text)["detail"]) > 8
            except (KeyError, ValueError):
                has_reason = False
            if not has_reason:
                self.missed.append(f"{what}: {status} without a reason: {text[:80]}")

    def raw(self, data, what, expected, then_close=False):
        """Sends bytes that may be no HTTP. A head that cannot be read is answered by a bare status, or not at all."""
        began, status = time.monotonic(), "closed"
        with socket.create_connection(("127.0.0.1", self.site.port), timeout=60) as stream:
            try:
                stream.sendall(data)
                if then_close:
                    stream.shutdown(socket.SHUT_WR)
                answer = stream.recv(65536)
                found = re.match(rb"HTTP/1\.[01] (\d+)", answer)
                status = int(found[1]) if found else "closed" if not answer else "garbage"
            except ConnectionError:
                pass
            except TimeoutError:
                self.missed.append(f"{what}: no answer in 60 s")
        self.answers[status] += 1
        self.longest = max(self.longest, time.monotonic() - began)
        if status not in expected:
            self.missed.append(f"{what}: {status} instead of {expected}")


def is_honest_served(site, template, missed):
    """An honest submission is stored, and its product can be read."""
    run = Run(template, random.randrange(10**6))
    status = request(site.port, "POST", "/api/v1/records", run.headers(), run.document())[0]
    state = json.loads(request(site.port, "GET", run.path() + "/state")[2])
    if status != 201 or state["state"] != "shared" or request(site.port, "GET", "/ready")[0] != 200:
        missed.append(f"an honest submission afterwards: {status} {state}")


# Part `api`


def api(rows, site, template, tools, folder):
    """schemathesis against the description that the site serves: first as it is, then with runs that the site has."""
    runs = [Run(template, index) for index in range(60)]
    for run in runs[:40]:
        request(site.port, "POST", "/api/v1/records", run.headers(), run.document())
    path = os.path.join(folder, "runs.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([vars(run) | {"document": run.document().decode(), "headers": run.headers()} for run in runs], file)
    # A text that is no record satisfies its description, and so does a search whose parameters contradict each other.
    config = os.path.join(folder, "schemathesis.toml")
    with open(config, "w", encoding="utf-8") as file:
        accepted = '"2xx", "3xx", "401", "403", "404", "409", "410", "422", "429"'
        file.write(f"[checks.positive_data_acceptance]\nexpected-statuses = [{accepted}]\n")
        file.write(f'[[operations]]\ninclude-name = "GET /api/v1/records"\n[operations.checks.positive_data_acceptance]\n')
        file.write(f'expected-statuses = ["400", {accepted}]\n')
    of_strangers = "negative_data_rejection,positive_data_acceptance,ignored_auth,use_after_free,ensure_resource_availability"
    passes = {"any parameters": [], "runs of the site": ["--exclude-checks", of_strangers]}
    total = 0
    for name, more in passes.items():
        began = time.monotonic()
        report = os.path.join(folder, "report")
        command = [os.path.abspath(f"{tools}/bin/schemathesis"), "--no-color", "--config-file", config, "run", *more, "--seed", "1"]
        command += ["--url", f"http://127.0.0.1:{site.port}", f"http://127.0.0.1:{site.port}/api/v1/openapi.json"]
        # For each of 18 operations; those without parameters get fewer.
        command += ["--max-examples", str(1 + EXAMPLES // 30), "--continue-on-failure", "--request-timeout", "20"]
        environment = os.environ | {
            "SITE_RUNS": path if more else "", "SCHEMATHESIS_HOOKS": "api_hooks", "PYTHONPATH": os.path.abspath("benchmarks/site")
        }
        with open(report, "w", encoding="utf-8") as file:
            # It keeps notes in its working folder.
            done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=folder, check=False)
        with open(report, encoding="utf-8") as file:
            text = file.read()
        count = int((re.search(r"(\d+) generated", text) or [0, 0])[1])
        total += count
        missed = re.findall(r"(?:❌|🚫) (?:ST\d+ .*|[A-Z][a-z ]+): \d+", text) if done.returncode else []
        if done.returncode:
            missed.append(f"exit {done.returncode}")
            kept = f"target/schemathesis-{name.replace(' ', '-')}.txt"
            shutil.copy(report, kept)
            print(f"report: {kept}", flush=True)
        rows.add(f"schemathesis, {name}", {"examples": count}, time.monotonic() - began, missed)
    if total < EXAMPLES:
        rows.missed.append(f"schemathesis: {total} examples")


# Part `bodies`


def zstd(data, *options):
    return subprocess.run(["zstd", "--quiet", "--stdout", *options], input=data, capture_output=True, check=True).stdout


def bombs(rows, site, template):
    spaces = b" " * (256 << 20)
    packed = gzip.compress(spaces, 9)
    document = Run(template, 1).document()
    good, members = gzip.compress(document, 6), gzip.compress(b"") * 200_000
    cases = [
        ("gzip", packed, {413}), ("gzip", gzip.compress(packed), {422}), ("zstd", zstd(spaces, "-19"), {413}),
        ("zstd", zstd(zstd(spaces, "-3"), "-3"), {422}), ("zstd", zstd(spaces, "--ultra", "-22", "--long=31"), {400, 413}),
        ("zstd", bytes.fromhex("28b52ffd 00 ff 000000"), {400}), ("gzip", members, {422}),
        ("zstd", b"\x50\x2a\x4d\x18\x00\x00\x00\x00" * 500_000, {400, 422}),
        ("zstd", b"\x50\x2a\x4d\x18\xff\xff\xff\xff", {400}),
        ("gzip", b"\x1f\x8b\x08\x04" + b"\0" * 6 + b"\xff\xff" + b"\0" * 100, {400}),
        ("gzip", good + b"garbage", {400}), ("gzip", document, {400}), ("zstd", good, {400}), ("gzip", zstd(document), {400}),
        (None, good, {422}), ("br", good, {415}), ("gzip, gzip", packed, {415}), ("deflate", good, {415}),
    ]
    cases += [("gzip", good[: len(good) * part // 20], {400}) for part in range(20)]
    cases += [("zstd", zstd(document)[: 4 + part * 997], {400}) for part in range(20)]
    with Case(rows, "bombs, broken and mislabelled bodies", site) as case:
        for encoding, body, expected in cases:
            headers = {"content-encoding": encoding} if encoding else {}
            case.ask("POST", "/api/v1/records", headers, body, expected, f"{encoding} of {len(body)} bytes {body[:12]}")
    with Case(rows, "bombs, 96 at a time", site) as case:
        def thrice():
            for body in (packed, zstd_bomb, packed):
                case.ask("POST", "/api/v1/records", {"content-encoding": "zstd" if body is zstd_bomb else "gzip"}, body, {413, 503})
        zstd_bomb = cases[2][1]
        together(thrice, 96)
    with Case(rows, "8 MiB of JSON, 96 at a time", site) as case:
        large = b'{"format":1,"n":[' + b"[0]," * ((8 << 20) // 4 - 10) + b"0]}"
        together(lambda: case.ask("POST", "/api/v1/records", {}, large, {422, 503}), 96)


def together(work, count):
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def documents(rows, site, template):
    """JSON that is deep, wide or beyond all measure."""
    record = json.loads(template.split("\n")[0])
    head = f'"format":1,"id":"{record["id"]}","origin":{{"kind":"measured"}}'
    mib = 1 << 20
    texts = [
        "", "\n", "{", "[]", "null", "0", '"', "{}\n{}", "{}\n{}\n{}", "[" * (8 * mib - 9), '{"a":' * mib, "1" * (4 * mib),
        f'{{{head},"n":1e400}}', f'{{{head},"n":{"9" * 100_000}}}', f'{{{head},"n":-0}}', f'{{{head},"n":18446744073709551616}}',
        f'{{{head},"deep":{"[" * 500}{"]" * 500}}}', f'{{{head},"s":"{"x" * 7 * mib}"}}', f"{{{head},{head}}}",
        "{" + head + "," + ",".join(f'"k{index}":0' for index in range(400_000)) + "}",
        '{"format":1,"id":"\\ud800"}', '{"\\u0000":1}', "\ufeff" + template, template + template, template.replace("\n", "\r\n"),
    ]
    with Case(rows, "documents that are no records", site) as case:
        for text in texts:
            case.ask("POST", "/api/v1/records", {}, text.encode("utf-8", "surrogatepass"), what=text[:60])
        for text in (b"\xff\xfe\0", b"\xed\xa0\x80", b"\xc0\xaf", template.encode("utf-16"), b"\0" * mib):
            case.ask("POST", "/api/v1/records", {}, text, {422}, repr(text[:8]))
    numbers = [2**53 - 1, 2**53, 2**63 - 1, 2**64 - 1, 2**64, -1, 1e308, -1e308, 5e-324, 0]
    with Case(rows, "each number of a record replaced by ten", site) as case:
        for place in places(record, (int, float)):
            for number in numbers:
                send_changed(case, record, place, number)


def places(value, kinds, path=()):
    """Yields the places of values of these kinds; of a list only the first entry."""
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from places(entry, kinds, (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value[:1]):
            yield from places(entry, kinds, (*path, index))
    elif isinstance(value, kinds) and not isinstance(value, bool):
        yield path


def send_changed(case, record, place, value, statement=None):
    """Sends the record with another value; what is stored can be read again, as it was sent."""
    changed = copy.copy(record)
    parent = changed
    for step in place[:-1]:
        parent[step] = copy.copy(parent[step])
        parent = parent[step]
    parent[place[-1]] = value
    if place != ("id",):
        changed["id"] = f"{random.getrandbits(32):08x}-0000-4000-8000-{random.getrandbits(48):012x}"
    text = json.dumps(changed, separators=(",", ":")) + "\n"
    if statement is not None:
        text += json.dumps(statement | {"record_id": changed["id"]}, separators=(",", ":")) + "\n"
    what = f"{place} = {str(value)[:30]!r}"
    body = text.encode()
    packed = gzip.compress(body, 1)
    status = case.ask("POST", "/api/v1/records", {"content-encoding": "gzip", "cardmark-tag": "0" * 32}, packed, what=what)[0]
    if status != 201:
        return
    path = f"/api/v1/records/{changed['id']}"
    if case.ask("GET", path + "/document", expected={200}, what=f"{what}: document")[2] != body:
        case.missed.append(f"{what}: document differs")
    for view in (path, path + "/rank", path + "/state"):
        _, headers, text = case.ask("GET", view, expected={200}, what=f"{what}: {view}")
        if headers.get("x-content-type-options") != "nosniff" or b"<script" in text and "json" not in headers.get("content-type", ""):
            case.missed.append(f"{what}: {headers}")


def texts(rows, site, template):
    record, statement = (json.loads(line) for line in template.split("\n")[:2])
    with Case(rows, "each text of a record replaced by hostile ones", site) as case:
        for place in places(record, str):
            for text in HOSTILE_TEXTS.values():
                send_changed(case, record, place, text)
    with Case(rows, "each text of a statement replaced by hostile ones", site) as case:
        for text in HOSTILE_TEXTS.values():
            for name in ("product", "setting", "note", text):
                send_changed(case, record, ("format",), 1, statement | {name: text})
            send_changed(case, record, ("format",), 1, statement | {"claims": [text], "revision": text})
    with Case(rows, "names and values of queries and paths", site) as case:
        names = {
            "/api/v1/records": "product board bus queue suite metric least most from to simulated cursor limit x",
            "/api/v1/products": "q cursor limit", "/api/v1/boards": "cursor limit", "/api/v1/changes": "cursor limit",
            "/api/v1/contexts": "metric cursor limit", "/api/v1/rankings": "metric context limit", "/api/v1/published": "x",
            "/api/v1/compare": "base other metrics across",
        }
        kept = Run(template, 499)
        case.ask("POST", "/api/v1/records", kept.headers(), kept.document(), {201})
        secrets = [kept.headers()[name].encode() for name in ("cardmark-token-hash", "cardmark-tag")]
        values = [*HOSTILE_TEXTS.values(), "-1", "1e999", "NaN", "9" * 40, "0001-01-01", "%", "1.0", "true", "[]"]
        for path, words in names.items():
            for name in words.split():
                for value in values:
                    query = urllib.parse.urlencode({name: value[:9000]})
                    for more in ("", "&metric=rand_read_4k&context=1", f"&{query}"):
                        _, _, text = case.ask("GET", f"{path}?{query}{more}", expected={200, 400, 404, 422} if len(value) < 9000 else {400, 431})
                        if any(secret in text for secret in secrets):
                            case.missed.append(f"{path}?{query}")
        tricks = ["%00", "..%2f..%2fetc%2fpasswd", "%c0%af", "%ff", "%2e%2e", "a%2fb", "%25", "'", "*", "%F0%9F%92%A9", "~", "x" * 7000]
        tricks += [urllib.parse.quote(text[:2000], safe="") or "%20" for text in HOSTILE_TEXTS.values()]
        for trick in tricks:
            for path in ("/api/v1/records/{}", "/api/v1/records/{}/document", "/api/v1/records/{}/state", "/api/v1/records/{}/rank",
                         "/api/v1/products/{}", "/schema/{}", "/problems/{}", "/{}", "/api/v1/{}", "/api/v1/products/{}/..", "//{}"):
                case.ask("GET", path.format(trick), expected={200, 400, 404})


def owners(rows, site, template):
    """Forged tokens, and the same or another body again."""
    one, other, stranger = (Run(template, 500 + 3 * index) for index in range(3))
    with Case(rows, "forged tokens, replays", site) as case:
        def send(run, expected, what, document=None, headers=None):
            case.ask("POST", "/api/v1/records", run.headers() if headers is None else headers, document or run.document(), expected, what)
        send(one, {201}, "first")
        send(one, {200}, "again")
        send(other, {201}, "second")
        send(stranger, {200}, "sent by a stranger", one.document())
        send(one, {200}, "sent without an owner", one.document(), {})
        send(one, {409}, "other record, same id", one.document().replace(b'"modified":false', b'"modified":true'))
        for name, value in (("cardmark-tag", "Z" * 32), ("cardmark-tag", "0" * 31), ("cardmark-token-hash", "A" * 64), ("cardmark-tag", "é" * 16)):
            send(one, {400}, f"{name}: {value}", headers={name: value.encode()})
        token_hash = one.headers()["cardmark-token-hash"]
        forged = [other.token, stranger.token, token_hash, "0" * 64, one.token.upper() + "0", one.token[:-1], one.token[:-1] + "é", "", "null",
                  one.token + " " + one.token, "\t", "x" * 8000]
        schemes = ["Bearer {}", "Basic {}", "{}", "bearer  {},", "Token {}"]
        for text in forged:
            for scheme in schemes:
                headers = {"authorization": scheme.format(text).encode()}
                for method, path in (("DELETE", one.path()), ("PUT", one.path() + "/statement")):
                    case.ask(method, path, headers, one.statement().encode(), {401, 403}, f"{method} {headers}")
        for method in ("PATCH", "POST", "PUT", "TRACE", "CONNECT2"):
            case.ask(method, one.path(), one.bearer(), b"", {404, 405})
        one.revision = 2
        case.ask("PUT", one.path() + "/statement", one.bearer(), other.statement().encode(), {422}, "statement on another run")
        case.ask("PUT", one.path() + "/statement", one.bearer(), one.statement().encode(), {200}, "amended")
        case.ask("PUT", one.path() + "/statement", one.bearer(), one.statement().replace(one.product, "x").encode(), {409}, "same revision")
        case.ask("PUT", one.path() + "/statement", one.bearer(), b" " * (65 << 10), {413}, "large statement")
        case.ask("PUT", one.path() + "/statement", one.bearer() | {"content-encoding": "gzip"}, gzip.compress(b" " * (64 << 20)), {413, 422}, "packed statement")
        case.ask("GET", one.path() + "/document", expected={200})
        case.ask("DELETE", one.path(), one.bearer(), expected={200})
        case.ask("DELETE", one.path(), one.bearer(), expected={200}, what="withdrawn twice")
        case.ask("PUT", one.path() + "/statement", one.bearer(), one.statement().encode(), {410})
        send(one, {410}, "sent after it was withdrawn")
        case.ask("GET", one.path() + "/document", expected={410})


def protocol(rows, site):
    post = "POST /api/v1/records HTTP/1.1\r\nhost: x\r\n"
    get = "GET /health HTTP/1.1\r\nhost: x\r\n"
    cases = [
        (post + "content-length: 100\r\n\r\nshort", {400, "closed"}, True), (post + "content-length: 2\r\n\r\n{}garbage\r\n\r\n", {422}, False),
        (post + "content-length: 2\r\ncontent-length: 3\r\n\r\n{}", {400}, False), (post + "content-length: -1\r\n\r\n", {400}, False),
        (post + f"content-length: {2**64}\r\n\r\n", {400, 413}, False), (post + f"content-length: {2**63}\r\n\r\n", {400, 413}, False),
        (post + "content-length: 9000000\r\n\r\n", {413}, False), (post + "content-length: +2\r\n\r\n{}", {400}, False),
        (post + "transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n", {400, 422}, False),
        (post + "transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}", {400, 413, "closed"}, True),
        (post + "transfer-encoding: chunked\r\n\r\nxyz\r\n", {400}, False), (post + "transfer-encoding: gzip\r\n\r\n", {400, 411}, False),
        (post + "transfer-encoding: chunked\r\n\r\n2;" + "x" * 20000 + "\r\n{}\r\n0\r\n\r\n", {400, 422}, False),
        (post + "transfer-encoding: chunked\r\n\r\n0\r\n" + "x: y\r\n" * 2000 + "\r\n", {400, 422, 431}, False),
        (post + "expect: 100-continue\r\ncontent-length: 9000000\r\n\r\n", {413, 417}, False),
        (get + "x: y\r\n" * 63 + "\r\n", {200}, False), (get + "x: y\r\n" * 64 + "\r\n", {431}, False), (get + "x: y\r\n" * 5000 + "\r\n", {431, "closed"}, False),
        (get + "x: " + "y" * 20000 + "\r\n\r\n", {431, "closed"}, False), (get + "x" * 20000 + ": y\r\n\r\n", {431, "closed"}, False),
        ("GET /" + "x" * 20000 + " HTTP/1.1\r\nhost: x\r\n\r\n", {414, 431, "closed"}, False), (get + "bad header\r\n\r\n", {400}, False),
        (get + "x: a\0b\r\n\r\n", {400}, False), (get + "x: a\x7fb\r\n\r\n", {400}, False), (get + " folded\r\n\r\n", {400}, False), ("GET  HTTP/1.1\r\n\r\n", {400}, False),
        ("GET /health\r\n\r\n", {400}, False), ("GET /health HTTP/9.9\r\n\r\n", {400, 505}, False), ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 505, "closed"}, False),
        ("GET http://other/health HTTP/1.1\r\nhost: x\r\n\r\n", {200}, False), ("OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n", {200, 400, 404}, False),
        ("CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n", {400, 404, 405}, False), ("\r\n\r\n" + get + "\r\n", {200}, False),
        ("\x16\x03\x01\x02\x00\x01\x00", {400, "closed"}, True), ("\0" * 4000, {400}, False), ("é" * 40000, {400, "closed"}, False),
    ]
    with Case(rows, "requests against the rules of HTTP, floods of headers", site) as case:
        for text, expected, then_close in cases:
            case.raw(text.encode(), repr(text[:90]), expected, then_close)


def bodies(rows, site, template):
    bombs(rows, site, template)
    documents(rows, site, template)
    texts(rows, site, template)
    owners(rows, site, template)
    protocol(rows, site)
    with Case(rows, "lists afterwards", site) as case:
        for path in ("records", "products", "boards", "changes", "checks", "published", "contexts?metric=rand_read_4k", "seeds"):
            case.ask("POST" if path == "seeds" else "GET", f"/api/v1/{path}", expected={200, 201})
        for product in under_test.pages(site.port, "/api/v1/products", "products"):
            case.ask("GET", "/api/v1/products/" + urllib.parse.quote(product["key"], safe=""), expected={200})
        is_honest_served(site, template, case.missed)


# Part `slow`


async def attacked(attack, port, count, end, source, tally):
    """Keeps so many connections under attack until the end; counts those that were opened and how long one lived."""

    async def one(number):
        while time.monotonic() < end:
            try:
                address = source(number)
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=4096)
            except OSError:
                tally["not opened"] += 1
                await asyncio.sleep(1)
                continue
            tally["opened"] += 1
            began = time.monotonic()
            try:
                await asyncio.wait_for(attack(reader, writer, number), max(0.1, end - time.monotonic()))
            except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError):
                pass
            tally["longest"] = max(tally["longest"], time.monotonic() - began)
            writer.transport.abort()
            await asyncio.sleep(0.05)

    await asyncio.gather(*(one(number) for number in range(count)))


async def slow_head(_, writer, __):
    for byte in b"GET /api/v1/records HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 10000:
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(1)


async def slow_body(reader, writer, _):
    writer.write(b"POST /api/v1/records HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{")
    for _ in range(1000):
        await asyncio.sleep(1)
        writer.write(b" ")
        await writer.drain()
        if reader._buffer:  # Answered.
            return


async def stalled_body(reader, writer, _):
    size = (8 << 20) - 1
    writer.write(b"POST /api/v1/records HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n" % size)
    for _ in range(size // 65536):
        writer.write(b" " * 65536)
        await writer.drain()
    await reader.read(4096)


async def slow_reader(_, writer, __):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    writer.transport.pause_reading()
    # More than all buffers between the site and this program hold: 200 times 150 kB.
    writer.write(b"GET /api/v1/published HTTP/1.1\r\nhost: x\r\n\r\n" * 200)
    while not writer.transport.is_closing():
        await asyncio.sleep(1)
        # A closed connection is seen by a write.
        writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")


async def idle(reader, _, __):
    await reader.read(1)


async def idle_after_request(reader, writer, _):
    writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
    while await reader.read(4096):
        pass


def attack(name, port, count, seconds, source, queue):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    tally = collections.Counter()
    asyncio.run(attacked(globals()[name], port, count, time.monotonic() + seconds, source, tally))
    queue.put(dict(tally))


def honest(site, template, seconds, rows, name):
    """A client that reads and submits while the site is attacked. All of its requests have to be answered."""
    answers, times, missed = collections.Counter(), [], []
    end, index = time.monotonic() + seconds, random.randrange(10**6)
    while time.monotonic() < end:
        index += 1
        run = Run(template, index)
        packed = gzip.compress(run.document(), 1)
        for method, path, headers, body in (
            ("POST", "/api/v1/records", run.headers() | {"content-encoding": "gzip"}, packed), ("GET", "/api/v1/records", {}, None),
            ("GET", run.path() + "/document", {}, None),
        ):
            began = time.monotonic()
            try:
                status = request(site.port, method, path, headers, body, timeout=20, source=HONEST)[0]
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
            times.append(time.monotonic() - began)
            answers[status] += 1
            if status not in (200, 201):
                missed.append(f"{method} {path[:40]}: {status}")
        time.sleep(0.1)
    times.sort()
    shown = f"honest p50 {times[len(times) // 2] * 1e3:.0f} ms, p99 {times[len(times) * 99 // 100] * 1e3:.0f} ms"
    rows.add(f"{name}: {shown}", answers, times[-1], missed[:5])


def slow(rows, template, kind, folder):
    def own(number):
        return f"127.0.{1 + number % 4}.{1 + number // 4 % 200}"

    def block(_):
        return "127.0.1.1"

    reads = {"reads_at_once": 200, "reads_per_s": 40}
    scenarios = [
        ("nobody else", None, 0, 15, block, {}), ("slow heads", "slow_head", 500, 30, own, {}),
        ("slow bodies of one address", "slow_body", 200, 70, block, {}), ("stalled bodies of one address", "stalled_body", 32, 70, block, {}),
        ("slow readers", "slow_reader", 40, 90, own, {"reads_at_once": 10**6}), ("slow readers of one address", "slow_reader", 200, 90, block, {}),
        ("idle connections", "idle", IDLE, 30, own, {"connections": 16384}),
        ("idle after a request", "idle_after_request", IDLE // 2, 30, own, {"connections": 16384}),
    ]
    chosen = os.environ.get("SCENARIOS", "")
    for name, how, count, seconds, source, config in scenarios:
        if chosen and how not in chosen.split():
            continue
        database = Database(kind, folder, f"slow_{how or 'none'}")
        site = Site(database, folder, reads | config).start()
        try:
            site.until_ready()
            queue = multiprocessing.Queue()
            attacker = multiprocessing.Process(target=attack, args=(how, site.port, count, seconds, source, queue))
            if how:
                attacker.start()
                time.sleep(5)
            honest(site, template, seconds - 8 if how else seconds, rows, f"{count} {name}" if how else name)
            if how:
                tally = queue.get(timeout=120)
                attacker.join()
                print(f"  {name}: {tally}, {site.peak_mib():.0f} MiB", flush=True)
                # An attack that the site never ends holds its place for good. With the usual limit of reads all answers fit into the buffers of
                # a client that does not read: it is one that asks once a second.
                has_to_end = how != "slow_reader" or "reads_at_once" in config
                if has_to_end and tally["longest"] > seconds - 1:
                    rows.missed.append(f"{name}: a connection was held for {tally['longest']:.0f} s")
            if site.peak_mib() > MOST_MIB:
                rows.missed.append(f"{name}: {site.peak_mib():.0f} MiB")
            if site.stop() != 0:
                rows.missed.append(f"{name}: the site ended with an error")
        finally:
            site.kill()
            database.drop()


# Part `limits`


def limits(rows, template, kind, folder):
    """A submitter, then an address, sends to all instances at once: together not more than the bucket holds."""
    most, per_hour = 20, 60
    for name in ("tag", "address"):
        database = Database(kind, folder, f"limits_{name}")
        writes = {f"of_{name}": most, f"of_{name}_per_hour": per_hour}
        sites = [Site(database, folder, writes=writes) for _ in range(2 if kind == "postgres" else 1)]
        try:
            for site in sites:
                site.start().until_ready()
            runs = [Run(template, 3 * index) for index in range(60)]
            answers, lock, missed = collections.Counter(), threading.Lock(), []

            def send(part, name=name, answers=answers, lock=lock, missed=missed, runs=runs, sites=sites):
                for index in range(part, 60, 6):
                    run = runs[index]
                    headers = run.headers() | ({"cardmark-tag": "7" * 32} if name == "tag" else {})
                    body = gzip.compress(run.document(), 1)
                    port = sites[index // 6 % len(sites)].port
                    status, answered, _ = request(port, "POST", "/api/v1/records", headers | {"content-encoding": "gzip"}, body)
                    with lock:
                        answers[status] += 1
                        if status not in (201, 429) or status == 429 and not 1 <= int(answered.get("retry-after", 0)) <= 3600:
                            missed.append(f"{status} {answered}")

            began = time.monotonic()
            threads = [threading.Thread(target=send, args=(part,)) for part in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            took = time.monotonic() - began
            allowed = most + int(took * per_hour / 3600) + 1
            if not most <= answers[201] <= allowed:
                missed.append(f"{answers[201]} accepted, {most} to {allowed} allowed")
            rows.add(f"60 submissions of one {name} to {len(sites)} instances, {most} allowed", answers, took, missed)
        finally:
            for site in sites:
                if site.process:
                    site.kill()
            database.drop()


def main():
    kind, tools = sys.argv[1:3]
    parts = os.environ.get("PARTS", "api bodies slow limits").split()
    random.seed(1)
    rows, folder, template = Rows(), tempfile.mkdtemp(), under_test.template()
    try:
        for part in {"api", "bodies"} & set(parts):
            database = Database(kind, folder, f"abuse_{part}")
            site = Site(database, folder).start()
            try:
                site.until_ready()
                api(rows, site, template, tools, folder) if part == "api" else bodies(rows, site, template)
                is_honest_served(site, template, rows.missed)
                print(f"peak memory of part {part}: {site.peak_mib():.0f} MiB", flush=True)
                if site.peak_mib() > MOST_MIB:
                    rows.missed.append(f"{part}: {site.peak_mib():.0f} MiB")
                if site.stop() != 0:
                    rows.missed.append(f"{part}: the site ended with an error")
            finally:
                site.kill()
                print(site.log_end()[-1500:], end="", flush=True)
                database.drop()
        if "slow" in parts:
            slow(rows, template, kind, folder)
        if "limits" in parts:
            limits(rows, template, kind, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table([["case", "requests", "answers", "longest", "wrong"], *rows.rows])
    for text in rows.missed[:60]:
        print(f"MISSED: {kind}: {text}")
    sys.exit(bool(rows.missed))


main()
