"""Hooks of schemathesis: part of the valid requests name runs that the site has, with their tokens and documents.

Random ids are never those of a run, and random texts never records. The file of runs is named by SITE_RUNS.
"""

import json
import os
import zlib

import schemathesis
from schemathesis import GenerationMode

RUNS = []
if os.environ.get("SITE_RUNS"):
    with open(os.environ["SITE_RUNS"], encoding="utf-8") as file:
        RUNS = json.load(file)


@schemathesis.serializer("application/x-ndjson")
def document(_, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_call(_, case, kwargs):
    if not RUNS or not case.meta or case.meta.generation.mode != GenerationMode.POSITIVE:
        return
    # The same case gets the same run, so that a failure can be repeated.
    drawn = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode("utf-8", "surrogatepass"))
    run = RUNS[drawn // 4 % len(RUNS)]
    if drawn % 4 == 0:
        return
    if "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = run["id"]
    if case.operation.label == "GET /api/v1/compare" and drawn % 4 == 1:
        case.query |= {"base": run["id"], "other": RUNS[drawn // 8 % len(RUNS)]["id"]}
        case.query.pop("metrics", None)
    if case.method in ("PUT", "DELETE") and drawn % 4 > 1:
        case.headers["authorization"] = f"Bearer {run['token']}"
    if case.method == "POST" and "seeds" not in case.path:
        case.body = run["document"].encode()
        case.headers.update(run["headers"])
    if case.method == "PUT":
        statement = {"statement": 1, "record_id": run["id"], "revision": drawn, "product": "Amended"}
        case.body = json.dumps(statement).encode() if drawn % 8 > 1 else case.body
