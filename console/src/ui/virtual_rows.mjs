// Rows of equal height, of which only the visible ones exist.

import { html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/htm-preact.mjs';

const SPARE_ROWS = 8;

// `row(index)`: the content of a row. `header`: stays at the top. `onVisible(first, end)`: called after each change,
// also of `turn`.
// `role`, `label` and the number of columns describe it to screen readers.
export function VirtualRows({ count, rowHeight, row, header, onVisible, role = 'table', label, columns, width, turn }) {
  const element = useRef(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const measure = () => {
    const { scrollTop, clientHeight } = element.current;
    const isSame = (old) => old.top === scrollTop && old.height === clientHeight;
    setView((old) => (isSame(old) ? old : { top: scrollTop, height: clientHeight }));
  };
  useLayoutEffect(measure);
  useEffect(() => {
    const observer = new ResizeObserver(measure);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE_ROWS);
  const end = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS);
  useEffect(() => onVisible?.(first, end), [first, end, count, turn]);
  const indexes = [];
  for (let index = first; index < end; index += 1) indexes.push(index);
  return html`<div class="rows" ref=${element} onScroll=${measure} role=${role} aria-label=${label}
      aria-rowcount=${count + 1} aria-colcount=${columns} tabindex="0">
    <div class="rows-head" role="rowgroup" style=${{ width }}>${header}</div>
    <div class="rows-body" role="rowgroup" style=${{ height: `${count * rowHeight}px`, width }}>
      ${indexes.map((index) => html`<div key=${index} class="rows-place" role="presentation"
        style=${{ transform: `translateY(${index * rowHeight}px)`, height: `${rowHeight}px` }}>${row(index)}</div>`)}
    </div>
  </div>`;
}
