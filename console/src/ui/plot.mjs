// A plot of values over time, by uPlot.

import { html, useEffect, useRef, useState } from '../../vendor/htm-preact.mjs';
import { useStore } from '../lib/store.mjs';
import { theme } from './theme.mjs';

const HEIGHT = 150;
const AXIS_WIDTH = 64;
const COLOURS = ['--plot-1', '--plot-2', '--plot-3', '--plot-4', '--plot-5'];
const colourOf = ({ isBad }, index) => (isBad ? '--bad' : COLOURS[index % COLOURS.length]);

let library = null;

// uPlot is a plain script, which only this view needs.
function loadLibrary() {
  library ??= new Promise((resolve, reject) => {
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    style.href = new URL('../../vendor/uplot.css', import.meta.url).href;
    const script = document.createElement('script');
    script.src = new URL('../../vendor/uplot.js', import.meta.url).href;
    script.onload = () => resolve(globalThis.uPlot);
    script.onerror = () => reject(new Error('uPlot is not there'));
    document.head.append(style, script);
  });
  return library;
}

// Steps of an axis of bytes: 1, 2, 4, ... KiB, MiB, GiB.
const BINARY_STEPS = Array.from({ length: 50 }, (_, i) => 2 ** i);

const clock = (time) => new Date(time * 1000).toTimeString().slice(0, 8);

function optionsOf(width, series, { unit, isBinary, span }, colour) {
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const grid = { stroke: colour('--line'), width: 1 };
  const axis = { stroke: colour('--text-3'), grid, ticks: { show: false }, font };
  return {
    width, height: HEIGHT, legend: { show: false }, cursor: { y: false, points: { size: 6 } }, padding: [8, 30, 0, 0],
    scales: {
      x: { range: ({ data: [all] }) => [(all.at(-1) ?? 0) - span, all.at(-1) ?? 0] },
      y: { range: (_, min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      { ...axis, size: 24, space: 60, grid: { show: false }, values: (_, splits) => splits.map(clock) },
      {
        ...axis, size: AXIS_WIDTH, space: 34, values: (_, splits) => splits.map(unit),
        ...(isBinary ? { incrs: BINARY_STEPS } : {}),
      },
    ],
    series: [{}, ...series.map((each, i) => ({
      label: each.label, stroke: colour(colourOf(each, i)), width: 1.5, points: { show: false }, spanGaps: false,
    }))],
  };
}

// `times`: seconds since 1970; the axis has `span` seconds up to the last one. `series`: {label, values, isBad}.
// `unit`: function that prints a value; `isBinary`: of bytes. `extra`: beside the title.
export function Plot({ title, extra, times, span, series, unit, isBinary = false }) {
  const element = useRef(null);
  const plot = useRef(null);
  const [at, setAt] = useState(null);  // index under the pointer
  const chosen = useStore(theme);
  const labels = series.map((each) => each.label).join('\n');
  useEffect(() => {
    let isGone = false;
    let observer = null;
    loadLibrary().then((UPlot) => {
      if (isGone) return;
      const style = getComputedStyle(document.documentElement);
      const colour = (name) => style.getPropertyValue(name).trim();
      const options = optionsOf(element.current.clientWidth, series, { unit, isBinary, span }, colour);
      options.hooks = { setCursor: [({ cursor }) => setAt(cursor.idx ?? null)] };
      plot.current = new UPlot(options, [times, ...series.map((each) => each.values)], element.current);
      observer = new ResizeObserver(() => plot.current.setSize({ width: element.current.clientWidth, height: HEIGHT }));
      observer.observe(element.current);
    });
    return () => {
      isGone = true;
      observer?.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [labels, chosen, span]);
  useEffect(() => plot.current?.setData([times, ...series.map((each) => each.values)]), [times]);
  const index = at !== null && at < times.length ? at : times.length - 1;
  const legend = series.map((each, i) => html`<span key=${each.label} class="legend-entry">
    <span class="swatch colour-${colourOf(each, i).slice(2)}"></span>${each.label}${' '}
    <b>${unit(each.values[index] ?? null)}</b></span>`);
  return html`<figure class="plot">
    <figcaption><h2>${title}</h2>${extra}<span class="legend">${legend}</span></figcaption>
    <div ref=${element} class="plot-area" aria-hidden="true"></div></figure>`;
}
