"""Hostile uploads beside honest clients; see `hostile-uploads`. Prints a table; exit 1 if something was missed."""

import asyncio
import collections
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import under_test
from under_test import Database, Run, Site, request, table

SECONDS = int(os.environ.get("SECONDS_EACH", "20"))
RATE = int(os.environ.get("RATE", "50"))
PAGES, SUBMISSIONS = int(os.environ.get("PAGES", "20")), int(os.environ.get("SUBMISSIONS", "5"))
IDLE = int(os.environ.get("IDLE", "9000"))
MOST_MS, MOST_MIB, MOST_END_S = 100, 512, 5
STORE = "postgres" if os.environ.get("CARDMARK_TEST_POSTGRES") else "sqlite"
# Time between the first attackers and the first honest client.
LEAD_S = 2
FIXTURES = "crates/know/import/fixtures"
PATHS = ["/", "/products", "/runs", "/boards", "/upload", "/checks", "/api/v1/records", "/api/v1/products", "/feed.atom", "/style.css"]


def fixture(name):
    with open(os.path.join(FIXTURES, name), encoding="utf-8") as file:
        return file.read()


def quadratic(_):
    """Texts that readers took minutes for."""
    table_of_three = "".join(f"| KIOXIA | {12 + line % 7}.{line % 10} MB/s | card {line} |\n" for line in range(400))
    return [
        ("text", ("xx;1\n" * 3000).encode()),
        ("text", table_of_three.encode()),
        ("text", ("The card was quick on the first day and slow on the 2nd one.\n" * 1000).encode()),
        ("text", (("read write " * 20) + "\n").encode() * 50),
        ("text", ("random write 4k MB/s " * 10_000).encode()),
    ]


def large(template):
    """Honest texts and records, as large as they may be."""
    texts = [fixture(name) for name in ("iozone-3.489-4k.txt", "fio-3.33-agnostics.txt", "crystaldiskmark-8.0.4-default.txt")]
    forms = [("text", (text * (250_000 // len(text))).encode()) for text in texts]
    record = json.loads(template.split("\n", 1)[0])
    # Trials are columns.
    for name, column in record["trials"].items():
        if isinstance(column, list):
            record["trials"][name] = column * max(1, 2_000_000 // len(template))
    return [*forms, ("file", json.dumps(record).encode()), ("file", template.encode())]


def form(name, data):
    file = '; filename="run"' if name == "file" else ""
    head = f'--b\r\ncontent-disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
    return head + data + b"\r\n--b--\r\n"


async def upload(port, number, data, tally):
    began = time.monotonic()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.1.{number % 100}.1", 0))
        head = f"POST /upload HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        answer = await reader.read()
        tally[answer[9:12].decode() or "closed"] += 1
        writer.close()
    except OSError as error:
        tally[type(error).__name__] += 1
    tally["longest ms"] = max(tally["longest ms"], int(1000 * (time.monotonic() - began)))


async def uploads(port, forms, seconds, tally):
    """Sends RATE uploads a second, whatever becomes of those before; gives up on those that are left at the end."""
    began, tasks = time.monotonic(), []
    for number in range(RATE * seconds):
        await asyncio.sleep(max(0, began + number / RATE - time.monotonic()))
        tasks.append(asyncio.create_task(upload(port, number, forms[number % len(forms)], tally)))
    _, left = await asyncio.wait(tasks, timeout=1)
    tally["not answered"] = len(left)
    for task in left:
        task.cancel()
    tally.update({"sent": len(tasks)})


async def idle(port, seconds, tally):
    """Keeps IDLE connections open, from 100 address blocks; one that is closed is opened again after 5 s."""
    end = time.monotonic() + seconds

    async def one(number):
        while time.monotonic() < end:
            try:
                source = (f"127.1.{number % 100}.{1 + number // 100 % 200}", 0)
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=source)
                tally["opened"] += 1
                if number % 2:
                    writer.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
                while await asyncio.wait_for(reader.read(4096), max(0.1, end - time.monotonic())):
                    pass
                writer.close()
            except (OSError, asyncio.TimeoutError) as error:
                tally[type(error).__name__] += 1
            await asyncio.sleep(5)

    await asyncio.gather(*(one(number) for number in range(IDLE)))


def attack(kind, port, forms, seconds, queue):
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    tally = collections.Counter()
    try:
        asyncio.run(idle(port, seconds, tally) if kind == "idle" else uploads(port, forms, seconds, tally))
    finally:
        queue.put(dict(tally))


class Memory(threading.Thread):
    """Looks for the processes that read uploads, and keeps their peak."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.peak_mib, self.most, self.is_over = process, 0, 0, False

    def run(self):
        while not self.is_over:
            try:
                with open(f"/proc/{self.process}/task/{self.process}/children", encoding="ascii") as file:
                    children = file.read().split()
            except OSError:
                return
            # A child belongs to the thread that started it.
            for thread in os.listdir(f"/proc/{self.process}/task"):
                try:
                    with open(f"/proc/{self.process}/task/{thread}/children", encoding="ascii") as file:
                        children += file.read().split()
                except OSError:
                    pass
            children = set(children)
            self.most = max(self.most, len(children))
            for child in children:
                try:
                    with open(f"/proc/{child}/status", encoding="ascii") as file:
                        found = re.search(r"VmHWM:\s+(\d+)", file.read())
                    self.peak_mib = max(self.peak_mib, int(found[1]) / 1024 if found else 0)
                except OSError:
                    pass
            time.sleep(0.05)


def honest(site, folder, seconds):
    """Pages and submissions at a fixed rate; returns their statuses, p50 and p99 in ms."""
    paths = os.path.join(folder, "paths")
    with open(paths, "w", encoding="ascii") as file:
        file.write("\n".join(PATHS))
    load, address = os.path.join(under_test.PROGRAMS, "examples/load"), f"127.0.0.1:{site.port}"
    commands = [[load, address, paths, str(PAGES), str(seconds), "16"], [load, address, "submit", str(SUBMISSIONS), str(seconds), "8"]]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for command in commands]
    results = []
    for process in running:
        text = process.communicate(timeout=seconds + 120)[0]
        statuses = {int(code): int(count) for code, count in re.findall(r"(\d+): (\d+)", text.split(";")[0])}
        found = re.search(r"p50 ([0-9.]+), p99 ([0-9.]+), max ([0-9.]+)", text)
        if not found:
            raise RuntimeError(f"load printed {text!r}")
        results.append((statuses, *(float(number) for number in found.groups())))
    return results


def part(kind, template, folder):
    """Returns a row of the table and what was missed."""
    database = Database(STORE, folder, f"uploads_{kind}")
    site = Site(database, folder).start()
    forms = {"quadratic": quadratic, "large": large}.get(kind, lambda _: [])(template)
    missed, attacker, queue = [], None, multiprocessing.Queue()
    try:
        site.until_ready()
        for index in range(20):
            run = Run(template, 3 * index)
            request(site.port, "POST", "/api/v1/records", run.headers(), run.document())
        memory = Memory(site.process.pid)
        memory.start()
        # The attack goes on when the honest are done: the end comes in the middle of it.
        lead = LEAD_S + (IDLE / 1000 if kind == "idle" else 0)
        seconds = int(SECONDS + lead + 12)
        if kind != "nobody":
            forms = [form(name, data) for name, data in forms]
            attacker = multiprocessing.Process(target=attack, args=(kind, site.port, forms, seconds, queue))
            attacker.start()
            time.sleep(lead)
        pages, submissions = honest(site, folder, SECONDS)
        memory.is_over = True
        peak = site.peak_mib()
        began = time.monotonic()
        status = site.stop()
        ended = time.monotonic() - began
        if status != 0 or ended > MOST_END_S:
            missed.append(f"{kind}: the end took {ended:.1f} s, exit {status}")
    finally:
        if attacker:
            tally = {}
            try:
                tally = queue.get(timeout=seconds + 60)
            finally:
                attacker.kill()
            print(f"  {kind}: {tally}", flush=True)
        site.kill()
        database.drop()
    for name, (statuses, _, p99, _) in (("pages", pages), ("submissions", submissions)):
        if set(statuses) - {200, 201}:
            missed.append(f"{kind}: {name}: {statuses}")
        if p99 > MOST_MS:
            missed.append(f"{kind}: {name}: p99 {p99:.0f} ms")
    if peak + memory.peak_mib * memory.most > MOST_MIB:
        missed.append(f"{kind}: {peak:.0f} MiB and {memory.most} × {memory.peak_mib:.0f} MiB")
    shown = [f"{p50:.0f} / {p99:.0f} / {most:.0f}" for _, p50, p99, most in (pages, submissions)]
    counts = [str(sum(statuses.values())) for statuses, *_ in (pages, submissions)]
    readers = f"{memory.most} × {memory.peak_mib:.0f}"
    return [kind, counts[0], shown[0], counts[1], shown[1], f"{peak:.0f}", readers, f"{ended:.1f} s"], missed


def cost(template):
    """Prints wall time, processor time and memory of the process for one upload."""
    cases = {
        "nothing (the process alone)": b"x",
        "hdparm, 0.2 kB": fixture("hdparm-9.65-t.txt").encode(),
        "fio, 31 kB": fixture("fio-3.33-agnostics.txt").encode(),
        "iozone, 250 kB": large(template)[0][1],
        f"record of quick, {len(template) // 1000} kB": template.encode(),
        "record, 2 MB": large(template)[3][1],
    }
    rows = [["upload", "wall", "processor", "memory"]]
    for name, data in cases.items():
        walls, processors, memory = [], [], 0
        while len(walls) < 20:
            began = time.monotonic()
            with tempfile.TemporaryFile() as file:
                file.write(b"{}\n" + data)
                file.seek(0)
                process = subprocess.Popen(
                    [under_test.SITE, "read-upload"], stdin=file, stdout=subprocess.DEVNULL, env={},
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 3)),
                )
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = status
            walls.append(1000 * (time.monotonic() - began))
            processors.append(1000 * (used.ru_utime + used.ru_stime))
            memory = max(memory, used.ru_maxrss / 1024)
            if status:
                break
        if status:
            rows.append([name, "stopped", f"{processors[-1]:.0f} ms", f"{memory:.0f} MiB"])
            continue
        walls.sort()
        processors.sort()
        rows.append([name, f"{walls[10]:.0f} ms ({walls[1]:.0f}–{walls[18]:.0f})", f"{processors[10]:.0f} ms", f"{memory:.0f} MiB"])
    table(rows)


def main():
    chosen = sys.argv[1:] or ["nobody", "quadratic", "large", "idle", "cost"]
    folder, template = tempfile.mkdtemp(), under_test.template()
    rows, missed = [], []
    try:
        for kind in chosen:
            print(f"{kind}: load {os.getloadavg()[0]:.1f}", flush=True)
            if kind == "cost":
                cost(template)
                continue
            row, more = part(kind, template, folder)
            rows.append(row)
            print("  " + " | ".join(row), flush=True)
            missed += more
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    names = ["beside", "pages", "ms: p50 / p99 / max", "submissions", "ms: p50 / p99 / max", "site, MiB", "readers, MiB", "end"]
    table([names, *rows])
    for text in missed:
        print(f"MISSED: {text}")
    sys.exit(bool(missed))


main()
