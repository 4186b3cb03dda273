"""Derives the documents of a dump on a Spark cluster and compares all rows with those of the site: spark.py WORKERS PROGRAM FOLDER"""

import json
import pathlib
import shlex
import shutil
import sys
import time

from pyspark.sql import SparkSession

workers, program, folder = int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
derived = folder / "derived"
shutil.rmtree(derived, ignore_errors=True)
# One process with one core for each worker.
cluster = SparkSession.builder.master(f"local-cluster[{workers},1,1024]").config("spark.ui.enabled", "false")
spark = cluster.config("spark.sql.session.timeZone", "UTC").getOrCreate()
context = spark.sparkContext
# The executors are there before the clock starts.
context.parallelize(range(workers), workers).pipe("sleep 5").count()

parts = sorted(str(path) for path in (folder / "dump" / "documents").iterdir())
begin = time.monotonic()
command = f"{shlex.quote(program)} derive - --to {shlex.quote(str(derived))}"
lines = context.parallelize(parts, len(parts)).pipe(command, checkCode=True).collect()
took = time.monotonic() - begin
results = [json.loads(line) for line in lines]
count, unreadable = (sum(result[name] for result in results) for name in ("records", "unreadable"))
print(f"{workers} workers: {count} records in {took:.0f} s, {1000 * took / count:.2f} ms a record, {unreadable} unreadable")

begin = time.monotonic()
for kind in ("records", "figures"):
    of_site = spark.read.parquet(str(folder / "dump" / kind))
    again = spark.read.parquet(str(derived / kind))
    counts = of_site.count(), again.count()
    differing = of_site.exceptAll(again).count(), again.exceptAll(of_site).count()
    print(f"  {kind}: {counts[0]} of the site, {counts[1]} derived; only on one side: {differing[0]} and {differing[1]}")
    if counts[0] != counts[1] or differing != (0, 0):
        sys.exit("the rows differ")
print(f"  compared in {time.monotonic() - begin:.0f} s")
spark.stop()
