"""Packs documents, and kills the job at random moments: packs.py sqlite|postgres MOMENTS SEED."""

import hashlib
import http.client
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import uuid

from under_test import PROGRAMS, SITE, Database, Site, table

RECORDS = int(os.environ.get("RECORDS", "20000"))
# Documents whose time is measured, one after the other.
TIMED = int(os.environ.get("TIMED", "1000"))
HEAD = ("database", "packs in", "records/s", "rows, MiB", "packs, MiB", "database before", "after, MiB", "from row: median, p99, ms", "from pack")
KILLS = ("database", "packs in", "kills", "runs that ended before", "packed when killed", "documents", "wrong", "packs that no place names")


class Filled:
    """A database with records, and the digests of their documents."""

    def __init__(self, kind, folder, name):
        self.database = Database(kind, folder, name)
        bulk = os.path.join(PROGRAMS, "examples/bulk")
        paths = os.path.join(folder, "paths")
        subprocess.run([bulk, self.database.url, str(RECORDS), paths], check=True, stdout=subprocess.DEVNULL)
        self.digests = dict(self.rows("select {id}, {digest} from bodies"))
        assert len(self.digests) == RECORDS

    def rows(self, text):
        """Returns rows of texts; `{column}` are bytes as hexadecimal digits."""
        if self.database.kind == "sqlite":
            connection = sqlite3.connect(self.database.path, timeout=60)
            found = connection.execute(re.sub(r"\{(\w+)\}", r"lower(hex(\1))", text)).fetchall()
            connection.commit()
            connection.close()
            return [tuple(map(str, row)) for row in found]
        printed = self.database.psql(self.database.url, re.sub(r"\{(\w+)\}", r"encode(\1, 'hex')", text))
        return [tuple(line.split("|")) for line in printed.splitlines()]

    def number(self, text):
        return int(self.rows(text)[0][0])

    def mib(self):
        """Size of the database without the space that is free for new rows, MiB."""
        if self.database.kind == "sqlite":
            self.rows("vacuum")
            return os.path.getsize(self.database.path) / 2**20
        self.database.psql(self.database.url, "vacuum full")
        return self.number("select pg_database_size(current_database())") / 2**20

    def drop(self):
        self.database.drop()
        if self.database.kind == "sqlite":
            for end in ("", "-wal", "-shm", ".lock"):
                if os.path.exists(self.database.path + end):
                    os.remove(self.database.path + end)


def pack(database, url):
    environment = os.environ | {"CARDMARK_DATABASE_URL": database.url, "CARDMARK_PACKS_URL": url, "CARDMARK_SITE_CONFIG": ""}
    return subprocess.Popen([SITE, "pack"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def whole_pack(database, url):
    """Packs until the end; returns its line."""
    process = pack(database, url)
    printed, errors = process.communicate(timeout=3600)
    if process.returncode:
        raise RuntimeError(errors)
    return printed


class Documents:
    """The documents of a site, on one connection."""

    def __init__(self, filled, folder):
        self.site = Site(filled.database, folder).start()
        self.site.until_ready()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.site.port, timeout=60)

    def is_as_sent(self, record, digest):
        self.connection.request("GET", f"/api/v1/records/{uuid.UUID(record)}/document")
        response = self.connection.getresponse()
        body = response.read()
        return response.status == 200 and hashlib.sha256(body).hexdigest() == digest

    def times(self, filled):
        """Returns median and 99th percentile of the time for one document, ms."""
        times = []
        for record in random.sample(sorted(filled.digests), min(TIMED, RECORDS)):
            begin = time.perf_counter()
            if not self.is_as_sent(record, filled.digests[record]):
                raise RuntimeError(f"the document of {record} is wrong")
            times.append(1000 * (time.perf_counter() - begin))
        return f"{statistics.median(times):.1f}, {statistics.quantiles(times, n=100)[98]:.1f}"

    def end(self):
        self.connection.close()
        self.site.stop()


def timed(filled, folder):
    documents = Documents(filled, folder)
    try:
        return documents.times(filled)
    finally:
        documents.end()


def speed(kind, place, url, folder):
    """Returns a row of the first table, and the time for all records."""
    filled = Filled(kind, folder, f"speed_{place}")
    os.environ["CARDMARK_PACKS_URL"] = url
    before, rows_mib = filled.mib(), filled.number("select cast(sum(length(packed)) as bigint) from bodies") / 2**20
    from_row = timed(filled, folder)
    begin = time.monotonic()
    print(f"{kind}, {place}: {whole_pack(filled.database, url).strip()}", flush=True)
    took = time.monotonic() - begin
    packs_mib = filled.number("select cast(sum(bytes) as bigint) from packs") / 2**20
    row = [kind, place, f"{RECORDS / took:.0f}", f"{rows_mib:.0f}", f"{packs_mib:.0f}", f"{before:.0f}", f"{filled.mib():.0f}", from_row, timed(filled, folder)]
    filled.drop()
    return row, took


def kills(kind, place, url, folder, moments, took):
    """Returns a row of the second table, and whether nothing was lost while at least half of the kills hit a running job."""
    filled = Filled(kind, folder, f"kills_{place}")
    os.environ["CARDMARK_PACKS_URL"] = url
    early, packed = 0, []
    for _ in range(moments):
        process = pack(filled.database, url)
        try:
            process.wait(timeout=random.uniform(0, 2 * took / moments))
            early += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()
        packed.append(filled.number("select count(*) from packed_bodies"))
        if kind == "postgres":
            # Stands for the two minutes until the lease of a dead process is over.
            filled.rows("delete from leases")
    whole_pack(filled.database, url)
    rows, places = (filled.number(f"select count(*) from {name}") for name in ("bodies", "packed_bodies"))
    dropped = filled.number("select count(*) from packs where dropped_ms is not null")
    documents = Documents(filled, folder)
    wrong = sum(not documents.is_as_sent(record, digest) for record, digest in filled.digests.items())
    documents.end()
    filled.drop()
    when = f"{min(packed)} to {max(packed)}"
    # A kill of a job that has ended shows nothing.
    is_met = wrong == 0 and (rows, places) == (0, RECORDS) and 2 * early <= moments
    return [kind, place, moments, early, when, f"{rows} rows, {places} places", wrong, dropped], is_met


def main():
    kind, moments, seed = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    random.seed(seed)
    is_met = True
    rows, of_kills = [HEAD], [KILLS]
    folder = tempfile.mkdtemp(dir="target")
    try:
        for place in ("folder", "server"):
            here = os.path.abspath(os.path.join(folder, place))
            bucket = f"{os.environ['CARDMARK_TEST_S3']}/{uuid.uuid4()}"
            urls = [f"file://{here}-{part}" if place == "folder" else f"{bucket}-{part}" for part in ("speed", "kills")]
            row, took = speed(kind, place, urls[0], folder)
            rows.append(row)
            row, is_kept = kills(kind, place, urls[1], folder, moments, took)
            of_kills.append(row)
            is_met &= is_kept
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    table(rows)
    print()
    table(of_kills)
    print(f"{kind}: nothing is lost, and half of the kills hit a running job: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
