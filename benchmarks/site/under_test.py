"""A site under test: databases, processes, submissions and requests. Only the standard library is used."""

import hashlib
import http.client
import json
import os
import random
import re
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import uuid

PROGRAMS = os.environ.get("SITE_PROGRAMS", "target/site")
SITE = os.path.join(PROGRAMS, "cardmark-site")
PRODUCTS = ["SanDisk Ultra 32 GB", "Samsung EVO Plus 64 GB", "Kingston Canvas Select Plus 32 GB", "Lexar 633x 32 GB"]
SUBMITTERS = [secrets.token_hex(16) for _ in range(40)]
# Limits that no test reaches, unless it is about limits.
CONFIG = {"reads_at_once": 10**9, "reads_per_s": 10**9, "connections": 4096}
WRITES = {"of_address": 10**9, "of_address_per_hour": 10**9, "of_tag": 10**9, "of_tag_per_hour": 10**9,
          "new_submitters_per_day": 10**9}
# Columns and tables that follow from the records, to compare them before and after a rebuild.
DERIVED = {
    "tag_cards": "product, context_key, tag, card, runs, figures",
    "summaries": "product, context_key, metric, lowest_first, cards, submitters, median, is_ranked, place, buckets",
    "product_contexts": "product, context_key, context",
    "product_cards": "product, tag, card, runs, fakes",
    "products": "key, name, name_small, members, runs, cards, fakes",
    "boards": "board, records",
    # The number of changes does not follow from the records; a total that never changed has no row.
    "totals where name <> 'changes' and count <> 0": "name, count",
}


# Folders, databases and processes are removed also if the test is ended from outside.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Database:
    """A new database: a SQLite file, or one on the server of scripts/postgres."""

    def __init__(self, kind, folder, name):
        self.kind, self.name = kind, name
        if kind == "sqlite":
            self.path = os.path.join(folder, f"{name}.sqlite")
            self.url = f"sqlite:{self.path}"
            return
        self.server = os.environ["CARDMARK_TEST_POSTGRES"]
        address = urllib.parse.urlsplit(self.server)
        self.url = urllib.parse.urlunsplit(address._replace(path=f"/{name}"))
        self.psql(self.server, f"create database {name}")

    def psql(self, url, text):
        command = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", url, "--command", text]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def drop(self):
        if self.kind == "postgres":
            self.psql(self.server, f"drop database if exists {self.name} with (force)")

    def derived(self):
        """Returns all rows that follow from the records."""
        lines = []
        for table, columns in DERIVED.items():
            text = f"select {columns} from {table}"
            if self.kind == "sqlite":
                connection = sqlite3.connect(self.path)
                rows = [repr(row) for row in connection.execute(text)]
                connection.close()
            else:
                rows = self.psql(self.url, text).splitlines()
            lines += [f"{table} {row}" for row in rows]
        return set(lines)


class Site:
    """A process of the site."""

    def __init__(self, database, folder, config=None, writes=None, listen="127.0.0.1"):
        self.port = free_port()
        self.listen, self.database, self.folder = listen, database, folder
        self.log = os.path.join(folder, f"log-{self.port}")
        self.config = os.path.join(folder, f"config-{self.port}.toml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in (CONFIG | (config or {})).items())
            file.write("[writes]\n")
            file.writelines(f"{name} = {value}\n" for name, value in (WRITES | (writes or {})).items())
        self.process = None

    def environment(self):
        return os.environ | {
            "CARDMARK_SITE_CONFIG": self.config,
            "CARDMARK_LISTEN": f"{self.listen}:{self.port}",
            "CARDMARK_DATABASE_URL": self.database.url,
            "CARDMARK_SITE_SECRET": "the same for all instances of a test",
            "CARDMARK_LOG": "warn",
        }

    def start(self):
        """Starts the process without waiting for it."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([SITE], env=self.environment(), stderr=log, stdout=log)
        return self

    def until_ready(self, seconds=60):
        """Waits until the site answers; returns False if its process ends."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                return False
            try:
                if request(self.port, "GET", "/ready", timeout=5)[0] == 200:
                    return True
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.02)
        raise RuntimeError(f"the site is not ready after {seconds} s: {self.log_end()}")

    def kill(self):
        """Ends the process by SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends the process by SIGTERM; returns its exit status."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60) if self.process else 0

    def peak_mib(self):
        """Peak resident memory, MiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1024

    def rebuild(self):
        """Runs `cardmark-site rebuild`; returns its line."""
        done = subprocess.run([SITE, "rebuild"], env=self.environment(), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def log_end(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]


class Run:
    """A run as its owner knows it: document, tag and token."""

    def __init__(self, template, index):
        self.id = str(uuid.UUID(int=random.getrandbits(128), version=4))
        self.tag = random.choice(SUBMITTERS)
        self.token = secrets.token_hex(32)
        self.revision = 1
        self.record, _ = template.split("\n", 1)
        old = re.search(r'"id":"([0-9a-f-]{36})"', self.record)[1]
        self.record = self.record.replace(old, self.id)
        self.record = re.sub(r'("sample":\{"id":")[0-9a-f]+', lambda found: f"{found[1]}{index // 3:06x}", self.record)
        # The last trial began a little later: no check sees it, and the run is no copy of another.
        self.record = re.sub(
            r'("started_ns":\[[0-9,]*?)([0-9]+)\]', lambda found: f"{found[1]}{int(found[2]) + 1 + index}]", self.record
        )
        self.product = random.choice(PRODUCTS)

    def statement(self):
        statement = {"statement": 1, "record_id": self.id, "revision": self.revision, "product": self.product}
        return json.dumps(statement, separators=(",", ":"))

    def document(self):
        return f"{self.record}\n{self.statement()}\n".encode()

    def headers(self):
        return {"cardmark-tag": self.tag, "cardmark-token-hash": hashlib.sha256(bytes.fromhex(self.token)).hexdigest()}

    def bearer(self):
        return {"authorization": f"Bearer {self.token}"}

    def path(self):
        return f"/api/v1/records/{self.id}"


def template():
    """Returns a submission of the corpus."""
    command = [os.path.join(PROGRAMS, "examples/load"), "document"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def request(port, method, path, headers=None, body=None, timeout=30, source=None):
    """Sends a request on a connection of its own; returns status, headers (small letters) and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout, source_address=source and (source, 0))
    try:
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def pages(port, path, member):
    """Yields the entries of all pages of a list."""
    cursor = None
    while True:
        status, _, body = request(port, "GET", f"{path}?limit=100" + (f"&cursor={cursor}" if cursor else ""))
        if status != 200:
            raise RuntimeError(f"{path}: {status} {body[:200]}")
        page = json.loads(body)
        yield from page[member]
        if not page[member] or not page.get("next"):
            return
        cursor = page["next"]


def table(rows):
    """Prints rows as a table; the first has the names, numbers are to the right."""
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "|".join("---" if index == 0 else "---:" for index in range(len(rows[0]))) + "|")
    for row in rows[1:]:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
