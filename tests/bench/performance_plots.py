#!/usr/bin/python3
"""Prints the table of a measurement and draws the plots of docs/reference/performance.md. Plots need python3-matplotlib.

    performance_plots.py table RESULTS              # RESULTS: the folder of performance_runs.py
    performance_plots.py points RESULTS >FILE.json  # the points of the plots, to be kept in docs/measurements
    /usr/bin/python3 tests/bench/performance_plots.py draw docs/measurements/2026-11-28-plots.json docs/images
"""

import json
import pathlib
import re
import sys

SERIES = ("clients", "rate", "rows")
PERCENTILES = (("p50_us", "p50"), ("p99_us", "p99"), ("p999_us", "p99.9"))
COLOURS = {"get": "#1f5fa8", "put": "#c1561a", "p50": "#1f5fa8", "p99": "#c1561a", "p99.9": "#5b5b5b"}


def load(directory, prefix):
    """{workload: [(x, result of the workload)]}, by ascending x; the files are PREFIX-[WORKLOAD-]X.json."""
    series = {}
    for path in pathlib.Path(directory).glob(f"{prefix}-*.json"):
        match = re.fullmatch(rf"{prefix}-(?:(.+)-)?(\d+)", path.stem)
        result = json.loads(path.read_text(encoding="utf-8"))["workloads"][0]
        series.setdefault(match[1] or result["name"], []).append((int(match[2]), result))
    return {name: sorted(points, key=lambda point: point[0]) for name, points in sorted(series.items())}


def figures(result, name):
    """Median of the rounds, the smallest and the largest."""
    values = sorted(round_of[name] for round_of in result["workload"]["rounds"])
    return values[len(values) // 2], values[0], values[-1]


def cell(result, name, digits):
    """The median of the rounds, and their range."""
    median, least, most = figures(result, name)
    return f"{median:,.{digits}f} ({least:,.{digits}f}-{most:,.{digits}f})"


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


def points_of(directory):
    """{series: {line: [[x, median, smallest, largest]]}}"""
    points = {name: {} for name in SERIES}
    for name in SERIES:
        for workload, results in load(directory, name).items():
            figure = {"clients": "calls_per_second", "rows": "server_cpu_us"}.get(name)
            lines = [(workload, figure)] if figure else [(f"{workload} {label}", key) for key, label in PERCENTILES]
            for label, key in lines:
                points[name][label] = [[x, *figures(result, key)] for x, result in results]
    return points


def draw_line(axes, points, label, colour, scale=1.0, raised=0):
    """A line with the range of its rounds, and its name behind its last point, so that no legend is needed."""
    xs = [point[0] for point in points]
    medians, least, most = ([point[i] * scale for point in points] for i in (1, 2, 3))
    axes.plot(xs, medians, marker="o", color=colour)
    axes.fill_between(xs, least, most, color=colour, alpha=0.15, linewidth=0)
    axes.annotate(label, (xs[-1], medians[-1]), xytext=(8, raised), textcoords="offset points", va="center", color=colour)


def finish(axes, title, x_label, y_label, ticks):
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)


def draw(points, out):
    import matplotlib  # pylint: disable=import-outside-toplevel

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "armature"  # equal points make equal files
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    from matplotlib.ticker import FuncFormatter  # pylint: disable=import-outside-toplevel

    def save(figure, name):
        figure.tight_layout()
        figure.savefig(out / f"performance-{name}.svg", metadata={"Date": None})
        plt.close(figure)

    figure, axes = plt.subplots(figsize=(7, 3.8))
    for label, line in points["clients"].items():
        draw_line(axes, line, label, COLOURS[label])
    axes.set_xscale("log", base=2)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    finish(axes, "Calls a second, by clients that wait for each answer", "clients", "calls a second",
           [point[0] for point in points["clients"]["get"]])
    save(figure, "clients")

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True)
    for axes, workload in zip(panels, ("get", "put")):
        for _, percentile in PERCENTILES:
            draw_line(axes, points["rate"][f"{workload} {percentile}"], percentile, COLOURS[percentile], 1e-3,
                      {"p99": -4, "p99.9": 4}.get(percentile, 0))
        axes.set_yscale("log")
        finish(axes, f"Latency of a {workload}, by load", "load, % of the highest rate",
               "milliseconds" if workload == "get" else "", [10, 25, 50, 75, 90])
        axes.set_yticks([0.2, 0.5, 1, 2, 5, 10, 20], ["0.2", "0.5", "1", "2", "5", "10", "20"])
        axes.minorticks_off()
    save(figure, "latency")

    figure, axes = plt.subplots(figsize=(7, 3.8))
    for label, line in points["rows"].items():
        draw_line(axes, line, label, COLOURS[label])
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    finish(axes, "Processor time of a get, by items in the table", "items in the table", "microseconds a call",
           [point[0] for point in points["rows"]["get"]])
    save(figure, "rows")


def main():
    what, source, *out = sys.argv[1:]
    if what == "table":
        print_table(source)
    elif what == "points":
        print(json.dumps(points_of(source), indent=1))
    elif what == "draw":
        draw(json.loads(pathlib.Path(source).read_text(encoding="utf-8")), pathlib.Path(out[0]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
