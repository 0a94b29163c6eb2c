"""Reads a plan in every format with independent programs, and compares what they read.

	suite.py FOLDER [SCHEMAS]   FOLDER holds plan.json plan.yaml plan.junit plan.sarif plan.openmetrics, and further plans
	                            (*.json), lines of history export (*.jsonl) and fleet files (fleet*.yaml); SCHEMAS
	                            holds published schemas: sarif-schema-2.1.0.json and any XML Schema of JUnit (*.xsd)

The last line of stdout is a JSON object: how many comparisons were made, and the failures.
"""

import hashlib
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

import jsonschema
import lxml.etree
import rfc8785
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

folder = pathlib.Path(sys.argv[1])
published = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "schemas"
here = pathlib.Path(__file__).parent
schemas = here.parent.parent.parent / "docs" / "schemas"
checks, failures = [], []


def check(name, holds, detail=""):
    checks.append(name)
    if not holds:
        failures.append(f"{name}: {detail}")


def read(name):
    return (folder / name).read_text()


def plan_id(plan, canonical):
    bound = {key: value for key, value in plan.items() if key not in ("id", "mark")}
    return "sha256:" + hashlib.sha256(canonical(bound)).hexdigest()


def compact(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


plan = json.loads(read("plan.json"))
validators = {}
for path in sorted(schemas.glob("*.json")):
    schema = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validators[path.stem] = jsonschema.Draft202012Validator(schema)
    checks.append(f"{path.name} is a schema of draft 2020-12")

for path in sorted(folder.glob("*.json")):
    one = json.loads(path.read_text())
    errors = [error.message for error in validators["plan"].iter_errors(one)]
    check(f"{path.name}: schema", not errors, errors[:3])
    check(f"{path.name}: id by json.dumps", plan_id(one, compact) == one["id"], one["id"])
    check(f"{path.name}: id by rfc8785", plan_id(one, rfc8785.dumps) == one["id"], one["id"])

for path in sorted(folder.glob("*.jsonl")):
    for line in path.read_text().splitlines():
        errors = [error.message for error in validators["journal"].iter_errors(json.loads(line))]
        check(f"{path.name}: schema", not errors, errors[:3])

for path in sorted(folder.glob("fleet*.yaml")):
    errors = [error.message for error in validators["fleet"].iter_errors(yaml.load(path.read_text(), yaml.BaseLoader))]
    check(f"{path.name}: schema", not errors, errors[:3])

check("yaml: the tree of the json", yaml.safe_load(read("plan.yaml")) == plan)

states = [finding["state"] for finding in plan["findings"]]
accepted = [f for f in plan["findings"] if f.get("accepted", {}).get("state", "match") != "match"]

junit = lxml.etree.parse(folder / "plan.junit")
for path in [here / "junit.xsd", *sorted(published.glob("*.xsd"))]:
    schema = lxml.etree.XMLSchema(lxml.etree.parse(path))
    check(f"junit: {path.name}", schema.validate(junit), str(schema.error_log)[:500])
suites = ElementTree.fromstring(read("plan.junit")).findall("testsuite")
total = {key: sum(int(suite.get(key)) for suite in suites) for key in ("tests", "failures", "errors", "skipped")}
expected = {
    "tests": len(states),
    "failures": len([state for state in states if state not in ("match", "unknown")]),
    "errors": states.count("unknown"),
    "skipped": len(accepted),
}
check("junit: counts", total == expected, f"{total} {expected}")
elements = {
    "tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error", "skipped": "testcase/skipped"}
found = {key: sum(len(suite.findall(path)) for suite in suites) for key, path in elements.items()}
check("junit: elements", found == expected, f"{found} {expected}")
check("junit: a suite per check", [s.get("name") for s in suites] == sorted({f["domain"] for f in plan["findings"]}))

sarif = json.loads(read("plan.sarif"))
schema = published / "sarif-schema-2.1.0.json"
if schema.is_file():
    schema = json.loads(schema.read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    errors = [f"{list(error.path)}: {error.message}" for error in validator.iter_errors(sarif)]
    check("sarif: schema", not errors, errors[:3])
run = sarif["runs"][0]
rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
check("sarif: results", len(run["results"]) == len([state for state in states if state != "match"]))
check("sarif: rules", all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"]))
check("sarif: only fail has a level", all(r["level"] == "none" or r["kind"] == "fail" for r in run["results"]))

metrics = {family.name: family for family in text_string_to_metric_families(read("plan.openmetrics"))}
numbers = {}
for sample in metrics["trueup_findings"].samples:
    numbers[sample.labels["state"]] = numbers.get(sample.labels["state"], 0) + int(sample.value)
counted = {state: number for state, number in numbers.items() if number}
check("openmetrics: findings", counted == plan["summary"]["findings"], f"{counted}")
check("openmetrics: actions", sum(s.value for s in metrics["trueup_actions"].samples) == len(plan["actions"]))
check("openmetrics: build", "trueup_build" in metrics)

print(json.dumps({"calls": len(checks), "failures": failures}))
