"""Kills a site, or its PostgreSQL, under a stream of changes: kills.py sqlite|sites|server MOMENTS SEED.

Clients submit, amend, withdraw and send again, and repeat each request until it is answered. Everything that was
acknowledged has to be there at the end, once.
"""

import collections
import gzip
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import under_test
from under_test import Database, Run, Site, pages, request, table

CLIENTS = 8
RATE = float(os.environ.get("RATE", "40"))
# Longest time until a request is answered, and between two kills, seconds.
PATIENCE, PAUSE = 120, 3


class Clients:
    """Clients with runs of their own each, and what the site acknowledged to them."""

    def __init__(self, sites, folder):
        self.sites, self.template = sites, under_test.template()
        self.counts, self.statuses = collections.Counter(), collections.Counter()
        self.wrong, self.waiting = [], 0
        self.there, self.gone = {}, set()
        self.lock, self.end = threading.Lock(), threading.Event()
        self.log = open(os.path.join(folder, "acknowledged"), "a", encoding="ascii")
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(CLIENTS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.end.set()
        for thread in self.threads:
            thread.join()

    def work(self, number):
        own, index, due = [], number, time.monotonic()
        while not self.end.is_set():
            # Not as fast as possible after a kill: the stream is steady.
            due = max(due + CLIENTS / RATE, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))
            kind = random.choices(["submit", "amend", "withdraw", "again"], [70, 15, 10, 5])[0]
            if kind == "submit" or not own:
                kind, index = "submit", index + CLIENTS
                own.append(Run(self.template, index))
            run = own[-1] if kind == "submit" else own.pop(random.randrange(len(own)))
            self.change(kind, run)
            if kind in ("amend", "again"):
                own.append(run)

    def change(self, kind, run):
        if kind == "amend":
            run.revision += 1
            run.product = random.choice(under_test.PRODUCTS)
            status, is_retry = self.ask("PUT", run.path() + "/statement", run.bearer(), run.statement().encode())
        elif kind == "withdraw":
            status, is_retry = self.ask("DELETE", run.path(), run.bearer())
        else:
            headers = run.headers() | {"content-encoding": "gzip"}
            status, is_retry = self.ask("POST", "/api/v1/records", headers, gzip.compress(run.document(), 1))
        expected = {201, 200} if kind == "submit" and is_retry else {201} if kind == "submit" else {200}
        with self.lock:
            self.counts[kind] += 1
            if kind == "submit" and status == 200:
                self.counts["answer lost"] += 1
            if status not in expected:
                self.wrong.append(f"{kind} {run.id}: {status}")
            if kind == "withdraw":
                self.there.pop(run.id)
                self.gone.add(run.id)
            else:
                self.there[run.id] = (run.document(), run.revision)
            self.log.write(f"{kind} {run.id} {run.revision} {status}\n")
            self.log.flush()

    def ask(self, method, path, headers, body=None):
        """Sends a request until it is answered; returns the status and whether it was sent more than once."""
        end, is_retry = time.monotonic() + PATIENCE, False
        with self.lock:
            self.waiting += 1
        try:
            while time.monotonic() < end:
                try:
                    status, _, _ = request(random.choice(self.sites).port, method, path, headers, body)
                    self.statuses[status] += 1
                    if status < 500:
                        return status, is_retry
                except (OSError, http.client.HTTPException) as error:
                    # A refused connection is only a site that does not run.
                    self.counts["refused" if isinstance(error, ConnectionRefusedError) else "cut"] += 1
                is_retry = True
                time.sleep(0.05)
            return 0, True
        finally:
            with self.lock:
                self.waiting -= 1


class Follower(threading.Thread):
    """Reads the feed of changes all the time, as a copy of the site would."""

    def __init__(self, sites):
        super().__init__()
        self.sites, self.cursor, self.seen, self.end = sites, "0", [], threading.Event()

    def run(self):
        while True:
            is_last = self.end.is_set()
            try:
                path = f"/api/v1/changes?limit=100&cursor={self.cursor}"
                status, _, body = request(random.choice(self.sites).port, "GET", path)
            except (OSError, http.client.HTTPException):
                status = 0
            page = json.loads(body) if status == 200 else {"changes": []}
            self.seen += [(entry["id"], entry["kind"]) for entry in page["changes"]]
            self.cursor = page.get("next", self.cursor)
            if is_last and status == 200 and not page["changes"]:
                return
            time.sleep(0.05)


def kill_server():
    """Kills PostgreSQL with all its processes, and starts it again."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(os.environ["CARDMARK_TEST_POSTGRES"]).query)
    folder = query["host"][0]
    with open(f"{folder}/data/postmaster.pid", encoding="ascii") as file:
        first = int(file.readline())
    with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
        processes = [first] + [int(word) for word in file.read().split()]
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    while any(os.path.exists(f"/proc/{process}") for process in processes):
        time.sleep(0.01)
    with open(f"{folder}/data/postmaster.opts", encoding="utf-8") as file:
        control = os.path.join(os.path.dirname(file.read().split()[0]), "pg_ctl")
    as_server = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    command = [*as_server, control, "--pgdata", "data", "--silent", "--wait", "--log", f"{folder}/log", "restart"]
    for _ in range(20):
        # A backend that was just born may hold the memory for a moment.
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0:
            return
        time.sleep(0.2)
    raise RuntimeError("PostgreSQL does not start again")


def missed(clients, follower, sites, database):
    """Compares what was acknowledged with what is there; yields what differs."""
    port = sites[0].port
    yield from clients.wrong
    listed = collections.Counter(entry["id"] for entry in pages(port, "/api/v1/records", "records"))
    yield from (f"{run} is listed {count} times" for run, count in listed.items() if count > 1)
    yield from (f"{run} is acknowledged and not listed" for run in clients.there.keys() - listed.keys())
    yield from (f"{run} is listed and not acknowledged" for run in listed.keys() - clients.there.keys())
    for run, (document, revision) in clients.there.items():
        status, _, body = request(port, "GET", f"/api/v1/records/{run}/document")
        if (status, body) != (200, document):
            yield f"{run}: document with status {status} differs"
        state = json.loads(request(port, "GET", f"/api/v1/records/{run}/state")[2])
        if (state.get("state"), state.get("revision")) != ("shared", revision):
            yield f"{run}: {state}"
    for run in clients.gone:
        status = request(port, "GET", f"/api/v1/records/{run}/document")[0]
        if status != 410:
            yield f"{run} was withdrawn: {status}"
    feed = [(entry["id"], entry["kind"]) for entry in pages(port, "/api/v1/changes", "changes")]
    expected = collections.Counter()
    for run, (_, revision) in clients.there.items():
        expected[(run, "arrived")] = 1
        if revision > 1:
            expected[(run, "amended")] = revision - 1
    expected.update((run, "withdrawn") for run in clients.gone)
    if collections.Counter(feed) != expected:
        yield f"feed: {list((collections.Counter(feed) - expected + (expected - collections.Counter(feed))).items())[:5]}"
    # What was withdrawn later has left the feed since.
    followed = [entry for entry in follower.seen if entry[1] == "withdrawn" or entry[0] not in clients.gone]
    if followed != feed:
        yield f"a follower of the feed saw {len(followed)} changes, {len(feed)} are there"
    for site in sites:
        if site.stop() != 0:
            yield f"a site ended with an error: {site.log_end()}"
    before = database.derived()
    line = sites[0].rebuild()
    if f"{len(clients.there)} records, 0 changed, 0 unreadable" not in line:
        yield f"rebuild: {line}"
    differ = sorted(before ^ database.derived())
    yield from (f"differs from a rebuild: {row[:300]}" for row in differ)


def measure(kind, moments, seed, folder):
    """Runs one pass; returns its row of the table and what was missed."""
    random.seed(f"{kind} {seed}")
    moment = random.Random(f"{kind} {seed} moments")
    database = Database("sqlite" if kind == "sqlite" else "postgres", folder, f"kills_{kind}")
    sites = [Site(database, folder) for _ in range(1 if kind == "sqlite" else 2)]
    clients, follower = Clients(sites, folder), Follower(sites)
    threads = []
    try:
        for site in sites:
            site.start().until_ready()
        clients.start()
        follower.start()
        threads = [clients, follower]
        began, met, back, of_server = time.monotonic(), 0, [], []
        for _ in range(moments):
            time.sleep(moment.uniform(0.05, PAUSE))
            site = moment.choice(sites)
            met += clients.waiting > 0
            killed = time.monotonic()
            if kind == "server":
                kill_server()
                of_server.append(time.monotonic() - killed)
            else:
                site.kill()
                site.start()
            for one in sites:
                one.until_ready()
            back.append(time.monotonic() - killed)
        time.sleep(1)
        clients.stop()
        took = time.monotonic() - began
        follower.end.set()
        follower.join(timeout=60)
        failures = list(missed(clients, follower, sites, database))
    finally:
        clients.end.set()
        follower.end.set()
        for site in sites:
            if site.process:
                site.kill()
        database.drop()
    counts = clients.counts
    errors = sum(count for status, count in clients.statuses.items() if status >= 500)
    row = [
        {"sqlite": "site, SQLite", "sites": "one of two sites, PostgreSQL", "server": "PostgreSQL, two sites"}[kind],
        f"{met} of {moments}", counts["submit"], counts["amend"], counts["withdraw"], counts["cut"], errors,
        counts["answer lost"], f"{sorted(back)[len(back) // 2]:.2f} s", f"{max(back):.2f} s", len(failures), f"{took:.0f} s",
    ]
    notes = f"statuses {dict(sorted(clients.statuses.items()))}"
    if of_server:
        notes += f"; PostgreSQL itself back after {sorted(of_server)[len(of_server) // 2]:.2f} s (median), {max(of_server):.2f} s at most"
    return row, notes, failures


def main():
    kinds, moments, seed = sys.argv[1].split(","), int(sys.argv[2]), sys.argv[3]
    rows = [["killed", "with writes under way", "submitted", "amended", "withdrawn", "connections cut", "answers 5xx",
             "stored, answer lost", "back, median", "longest", "lost or wrong", "time"]]
    code = 0
    for kind in kinds:
        folder = tempfile.mkdtemp()
        try:
            row, notes, failures = measure(kind, moments, seed, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        rows.append(row)
        print(f"{kind}: {notes}", flush=True)
        for failure in failures[:20]:
            print(f"MISSED: {kind}: {failure}", flush=True)
        code = code or int(bool(failures))
    table(rows)
    sys.exit(code)


main()
