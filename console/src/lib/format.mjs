// Numbers for people.

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export function bytes(count) {
  if (!Number.isFinite(count)) return '–';
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

export const integer = (number) => (Number.isFinite(number) ? number.toLocaleString('en-US') : '–');

// A rate or a level, short enough for an axis.
export function short(number) {
  if (number === null || !Number.isFinite(number)) return '–';
  const size = Math.abs(number);
  if (size >= 1e6) return `${(number / 1e6).toFixed(1)}M`;
  if (size >= 1e4) return `${(number / 1e3).toFixed(0)}k`;
  if (size >= 100 || Number.isInteger(number)) return number.toFixed(0);
  return number.toFixed(size >= 10 ? 1 : 2);
}

export function seconds(time) {
  if (time === null || !Number.isFinite(time)) return '–';
  if (time === 0) return '0 s';
  if (time < 1e-3) return `${short(time * 1e6)} µs`;
  return time < 1 ? `${short(time * 1e3)} ms` : `${short(time)} s`;
}

export const units = (count, noun) => `${short(count)} ${noun}${count === 1 ? '' : 's'}`;

export const plural = (count, noun, nouns = `${noun}s`) => `${integer(count)} ${count === 1 ? noun : nouns}`;

// A span of time in words: "40 s", "3 min", "2 h", "5 days".
export function duration(span) {
  if (!Number.isFinite(span)) return '–';
  if (span < 120) return `${Math.round(span)} s`;
  if (span < 7200) return `${Math.round(span / 60)} min`;
  return span < 172800 ? `${Math.round(span / 3600)} h` : `${Math.round(span / 86400)} days`;
}

// A moment, given in seconds since 1970: the clock for today, else with the date.
export function moment(time) {
  if (time === null || time === undefined) return '–';
  const date = new Date(time * 1000);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString() : date.toLocaleString();
}

// "NEW_AND_OLD_IMAGES" as words.
export const words = (name) => name.toLowerCase().replaceAll('_', ' ');
