#!/usr/bin/python3
"""The alarms of packaging/armature.rules.yml and the dashboard fit the metrics, the documents and each other."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "packaging/armature.rules.yml"
DASHBOARD = ROOT / "packaging/grafana-dashboard.json"
OPERATIONS = ROOT / "docs/operate"
CASES = pathlib.Path(__file__).resolve().parent / "alarms"
SEVERITIES = {"critical", "warning", "info"}
# Set by Prometheus for every series of a target.
TARGET_LABELS = {"job", "instance"}
METRIC = re.compile(r"\b(?:armature|process)_\w+|\bup\b")


def keys_of(block):
    """Values by key of the lines of a rule. A folded value (>-) is its lines, joined."""
    values, key = {}, None
    for line in block.splitlines():
        if match := re.match(r"\s+(?:- )?(alert|expr|for|severity|summary|description): ?(.*)$", line):
            key = match[1]
            values[key] = "" if match[2] == ">-" else match[2]
        elif re.fullmatch(r"\s+(labels|annotations):", line) or re.match(r"\s*#", line):
            key = None
        elif key is not None and line.strip():
            values[key] = f"{values[key]} {line.strip()}".strip()
    return values


def alarms():
    """The rules by name. Python has no YAML of its own, so this reads the form in which the file is written."""
    blocks = re.split(r"(?m)^(?=      - alert: )", RULES.read_text())[1:]
    found = [keys_of(block) for block in blocks]
    return {rule["alert"]: rule for rule in found}


def metrics():
    """(kind, labels) of the metrics in docs/reference/metrics.md, by name."""
    found = {}
    for line in (ROOT / "docs/reference/metrics.md").read_text().splitlines():
        if match := re.match(r"\| `(\w+)` \| (\w+) \| ([\w, ]*) \|", line):
            found[match[1]] = (match[2], set(re.findall(r"\w+", match[3])))
    found["up"] = ("gauge", set())
    return found


def definition(name, known):
    """The metric of a name in a query; None if there is none."""
    if name in known and known[name][0] != "histogram":
        return known[name]
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    if base != name and known.get(base, ("",))[0] == "histogram":
        kind, labels = known[base]
        return kind, labels | ({"le"} if name.endswith("_bucket") else set())
    return None


def names_in(query):
    """Names of metrics in a query, without those in texts."""
    return set(METRIC.findall(re.sub(r'"[^"]*"', '""', query)))


def operations_rows():
    """(name, condition) of the tables of alarms in docs/operate."""
    found, in_table = [], False
    for line in "\n".join(page.read_text() for page in sorted(OPERATIONS.glob("*.md"))).splitlines():
        if line.startswith("| alarm |"):
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif in_table and not line.startswith("| ---"):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            found.append((cells[0].strip("`"), cells[1]))
    return found


def panels():
    return json.loads(DASHBOARD.read_text())["panels"]


def queries(panel):
    return [target["expr"] for target in panel.get("targets", ())]


class Alarms(unittest.TestCase):
    maxDiff = None

    def test_each_has_threshold_duration_severity_and_texts(self):
        for name, rule in alarms().items():
            with self.subTest(name):
                self.assertRegex(name, r"^Armature[A-Z][A-Za-z]+$")
                self.assertEqual(set(rule), {"alert", "expr", "for", "severity", "summary", "description"})
                self.assertRegex(rule["expr"], r"(==|<|>) ")
                self.assertRegex(rule["for"], r"^\d+[mh]$")
                self.assertIn(rule["severity"], SEVERITIES)
                self.assertGreater(len(rule["description"]), 60, "it says what to do")

    def test_metrics_and_labels_are_those_of_the_daemon(self):
        known = metrics()
        for name, rule in alarms().items():
            with self.subTest(name):
                labels = set(TARGET_LABELS)
                for metric in names_in(rule["expr"]):
                    self.assertIsNotNone(found := definition(metric, known), f"{metric} is not in docs/reference/metrics.md")
                    labels |= found[1]
                used = set(re.findall(r'(\w+)=~?"', rule["expr"]))
                for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", rule["expr"]):
                    used |= set(re.findall(r"\w+", group))
                used |= set(re.findall(r"\$labels\.(\w+)", rule["summary"] + rule["description"]))
                self.assertEqual(used - labels, set())

    def test_texts_have_labels_that_are_left_by_sums(self):
        for name, rule in alarms().items():
            if sums := re.findall(r"\bsum by \(([^)]*)\)", rule["expr"]):
                left = set.intersection(*({*re.findall(r"\w+", each)} for each in sums)) - {"le"}
                used = set(re.findall(r"\$labels\.(\w+)", rule["summary"] + rule["description"]))
                self.assertEqual(used - left, set(), name)

    def test_operations_names_exactly_these(self):
        rules, rows = alarms(), operations_rows()
        self.assertEqual([name for name, _ in rows], list(dict.fromkeys(name for name, _ in rows)), "a name is there twice")
        self.assertEqual({name for name, _ in rows}, set(rules))
        for name, condition in rows:
            named = names_in(condition)
            used = names_in(rules[name]["expr"])
            used |= {re.sub(r"_bucket$", "", metric) for metric in used}
            self.assertEqual(named - used, set(), f"{name}: the rule does not look at these")
            self.assertTrue(named or condition.startswith("the same"), name)

    def test_each_has_a_case_that_fires_and_a_silent_one(self):
        self.assertEqual({path.stem for path in CASES.glob("*.yml")}, set(alarms()))
        for path in CASES.glob("*.yml"):
            text = path.read_text()
            self.assertEqual(set(re.findall(r'ALERTS\{alertname="(\w+)"\}', text)), {path.stem})
            self.assertRegex(text, rf'ALERTS\{{alertname="{path.stem}",alertstate="firing"', path.name)
            self.assertIn("exp_samples: []", text, path.name)


class Promtool(unittest.TestCase):
    """The package prometheus has it. A CI without it must not pass."""

    def setUp(self):
        if shutil.which("promtool") is None:
            self.assertNotIn("CI", os.environ, "promtool is not installed: run tools/setup --checks")
            self.skipTest("promtool is not installed: tools/setup --checks installs it")

    def run_promtool(self, *arguments):
        run = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_accepts_the_rules(self):
        self.assertIn(f"{len(alarms())} rules found", self.run_promtool("check", "rules", str(RULES)))

    def test_passes_all_cases(self):
        cases = sorted(str(path) for path in CASES.glob("*.yml"))
        self.assertEqual(self.run_promtool("test", "rules", *cases).count("SUCCESS"), len(cases))


class Dashboard(unittest.TestCase):
    def test_ids_and_reference_ids_are_unique(self):
        ids = [panel["id"] for panel in panels()]
        self.assertEqual(len(ids), len(set(ids)), ids)
        for panel in panels():
            references = [target["refId"] for target in panel.get("targets", ())]
            self.assertEqual(len(references), len(set(references)), panel["title"])

    def test_panels_do_not_overlap(self):
        taken = {}
        for panel in panels():
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])):
                self.assertNotIn(cell, taken, f"{panel['title']} lies on {taken.get(cell)}")
                taken[cell] = panel["title"]

    def test_queries_use_metrics_of_the_daemon(self):
        known, seen = metrics(), set()
        for panel in panels():
            for query in queries(panel):
                for name in names_in(query):
                    self.assertIsNotNone(definition(name, known), f"{panel['title']}: {name} is not in docs/reference/metrics.md")
                    self.assertRegex(query, rf'\b{name}\{{[^}}]*instance=~"\$instance"', panel["title"])
                    seen.add(name)
        self.assertGreater(len(seen), 40)

    def test_each_alarm_has_a_panel_with_thresholds(self):
        shown = {}
        for panel in panels():
            for name in re.findall(r"Armature\w+", panel.get("description", "")):
                shown.setdefault(name, []).append(panel)
        self.assertEqual(set(shown), set(alarms()))
        for name, with_it in shown.items():
            for panel in with_it:
                common = set().union(*map(names_in, queries(panel))) & names_in(alarms()[name]["expr"])
                self.assertTrue(common, f"{panel['title']} shows no metric of {name}")
                steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
                self.assertGreater(len(steps), 1, panel["title"])
                self.assertIsNone(steps[0]["value"], "the first step has no lower end")

    def test_a_row_of_states_is_the_first(self):
        first, *others = panels()
        self.assertEqual((first["type"], first["title"]), ("row", "State"))
        states = others[: next(i for i, panel in enumerate(others) if panel["type"] == "row")]
        self.assertEqual({panel["type"] for panel in states}, {"stat"})
        critical = {name for name, rule in alarms().items() if rule["severity"] == "critical"}
        named = set(re.findall(r"Armature\w+", " ".join(panel["description"] for panel in states)))
        self.assertEqual(critical - named, set())


if __name__ == "__main__":
    unittest.main()
