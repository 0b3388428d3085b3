#!/usr/bin/python3
"""Prints the table of docs/PERFORMANCE.md and draws its plots, from the files of performance_runs.py. The plots need
python3-matplotlib.

    /usr/bin/python3 tests/bench/performance_plots.py DIRECTORY docs/performance
"""

import json
import pathlib
import re
import sys

try:
    import matplotlib
except ImportError:
    matplotlib = None  # only the table
else:
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "armature"  # equal data make equal files
    import matplotlib.pyplot as plt


def load(directory, prefix):
    """{workload: [(x, result of the workload)]}, by ascending x; the files are PREFIX-[WORKLOAD-]X.json."""
    series = {}
    for path in pathlib.Path(directory).glob(f"{prefix}-*.json"):
        match = re.fullmatch(rf"{prefix}-(?:(.+)-)?(\d+)", path.stem)
        result = json.loads(path.read_text(encoding="utf-8"))["workloads"][0]
        series.setdefault(match[1] or result["name"], []).append((int(match[2]), result))
    return {name: sorted(points, key=lambda point: point[0]) for name, points in sorted(series.items())}


def figures(result, name):
    """Median of the rounds, and the distances to the smallest and the largest."""
    values = sorted(round_of[name] for round_of in result["workload"]["rounds"])
    median = values[len(values) // 2]
    return median, median - values[0], values[-1] - median


def cell(result, name, digits):
    """The median of the rounds, and their range."""
    median, below, above = figures(result, name)
    return f"{median:,.{digits}f} ({median - below:,.{digits}f}-{median + above:,.{digits}f})"


def ratios(result):
    """Server CPU of each round over that of its echo."""
    pairs = zip(result["workload"]["rounds"], result["echo"]["rounds"])
    over = sorted(workload["server_cpu_us"] / echo["server_cpu_us"] for workload, echo in pairs)
    return f"{over[len(over) // 2]:.2f} ({over[0]:.2f}-{over[-1]:.2f})" if over else ""


def print_table(directory):
    print("| Workload | calls/s | server CPU, us/call | times echo | p50, us | p99, us | fsync p50, us |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for prefix, suffix in (("table", ""), ("http", " over HTTP")):
        for path in sorted(pathlib.Path(directory).glob(f"{prefix}-*.json")):
            for result in json.loads(path.read_text(encoding="utf-8"))["workloads"]:
                print(f"| {result['name']}{suffix} | {cell(result, 'calls_per_second', 0)} | {cell(result, 'server_cpu_us', 1)} | "
                      f"{ratios(result)} | {cell(result, 'p50_us', 0)} | {cell(result, 'p99_us', 0)} | "
                      f"{result['fsync_p50_us']:,.0f} |")


def draw(axes, points, name, label):
    medians, below, above = zip(*(figures(result, name) for _, result in points))
    axes.errorbar([x for x, _ in points], medians, yerr=[below, above], marker="o", capsize=3, label=label)


def save(axes, path, x_label, y_label):
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    axes.figure.tight_layout()
    axes.figure.savefig(path, metadata={"Date": None})
    plt.close(axes.figure)


def main():
    directory, out = sys.argv[1], pathlib.Path(sys.argv[2])
    print_table(directory)
    if matplotlib is None:
        sys.exit("performance_plots.py: no python3-matplotlib, so no plots")
    out.mkdir(parents=True, exist_ok=True)

    axes = plt.figure(figsize=(7, 4)).subplots()
    for workload, points in load(directory, "clients").items():
        draw(axes, points, "calls_per_second", workload)
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    save(axes, out / "throughput_clients.svg", "clients (calls under way)", "calls/s")

    axes = plt.figure(figsize=(7, 4)).subplots()
    for workload, points in load(directory, "rate").items():
        for name, label in (("p50_us", "p50"), ("p99_us", "p99"), ("p999_us", "p99.9")):
            draw(axes, points, name, f"{workload} {label}")
    axes.set_yscale("log")
    save(axes, out / "latency_rate.svg", "rate, % of the peak of a closed loop", "latency from the scheduled time, us")

    axes = plt.figure(figsize=(7, 4)).subplots()
    for workload, points in load(directory, "rows").items():
        draw(axes, points, "server_cpu_us", workload)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    save(axes, out / "cost_rows.svg", "rows in the table", "server CPU, us/call")


if __name__ == "__main__":
    main()
