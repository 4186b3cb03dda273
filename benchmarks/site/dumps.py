"""Asks DuckDB, chDB and Spark the same questions of a dump: dumps.py DUMP"""

import csv
import io
import pathlib
import sys
import time

import chdb
import duckdb
from pyspark.sql import SparkSession

dump = pathlib.Path(sys.argv[1]).resolve()
# {median} is the exact median of a group; {month} that of the time of arrival.
QUESTIONS = {
    "runs by state": "select state, count(*) from records group by state order by 1",
    "median by product and metric": "select product, metric, {median}, count(*) from figures join records on figures.id = records.id"
    " where product is not null group by product, metric order by 1, 2",
    "runs by month": "select {month} as month, count(*) from records group by month order by 1",
    "boards with most runs": "select board, count(*) as runs from records group by board order by runs desc, board limit 10",
    "submitters by product": "select product, count(distinct submitter) from records where product is not null group by product order by 1",
}


def plain(value):
    """Numbers as numbers of nine digits, so that spellings do not differ."""
    try:
        return f"{float(value):.9g}"
    except (TypeError, ValueError):
        return str(value)


def of_duckdb():
    base = duckdb.connect()
    base.sql("set timezone = 'UTC'")
    for kind in ("records", "figures"):
        base.sql(f"create view {kind} as select * from read_parquet('{dump}/{kind}/*.parquet')")
    return lambda text: base.sql(text.format(median="median(value)", month="strftime(received, '%Y-%m')")).fetchall()


def of_chdb():
    def ask(text):
        text = text.format(median="quantileExactInclusive(0.5)(value)", month="formatDateTime(toTimeZone(received, 'UTC'), '%Y-%m')")
        for kind in ("records", "figures"):
            text = text.replace(f"from {kind}", f"from file('{dump}/{kind}/*.parquet') as {kind}")
            text = text.replace(f"join {kind}", f"join file('{dump}/{kind}/*.parquet') as {kind}")
        return list(csv.reader(io.StringIO(str(chdb.query(text, "CSV")))))

    return ask


def of_spark():
    cluster = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    spark = cluster.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    for kind in ("records", "figures"):
        spark.read.parquet(f"{dump}/{kind}").createOrReplaceTempView(kind)
    return lambda text: spark.sql(text.format(median="percentile(value, 0.5)", month="date_format(received, 'yyyy-MM')")).collect()


readers = {"DuckDB": of_duckdb(), "chDB": of_chdb(), "Spark": of_spark()}
for question, text in QUESTIONS.items():
    answers, times = {}, []
    for name, ask in readers.items():
        begin = time.monotonic()
        rows = ask(text)
        times.append(f"{name} {time.monotonic() - begin:.2f} s")
        answers[name] = [[plain(value) for value in row] for row in rows]
    first = answers["DuckDB"]
    print(f"{question}: {len(first)} rows, {'equal' if all(rows == first for rows in answers.values()) else 'DIFFERENT'} ({', '.join(times)})")
    for name, rows in answers.items():
        if rows != first:
            differing = next((pair for pair in zip(first, rows) if pair[0] != pair[1]), (len(first), len(rows)))
            sys.exit(f"{name} differs from DuckDB: {differing}")
    if not first:
        sys.exit("no answer")
