// Formats numbers for people, and places the ticks of an axis.

/** A number to `digits` significant digits with a true minus sign. */
export function show(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const size = Math.abs(value);
  let text: string;
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) text = value.toExponential(Math.max(0, digits - 2));
  else if (size >= 10 ** (digits - 1)) text = value.toFixed(0);
  else text = String(Number(value.toPrecision(digits)));
  return separated(text.replace("-", "−").replace("-", "−"));
}

/** A written value with commas between thousands from five digits on: "31,061", but "2023". */
export const separated = (text: string): string =>
  text.includes("e") ? text : text.replace(/\d{5,}/, (digits, at: number) => (text.slice(0, at).includes(".") ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ",")));

/** A number to exactly `digits` significant digits, including trailing zeros. */
export function exact(value: number | null, digits = 3): string {
  const size = Math.abs(value ?? NaN);
  if (value === null || !(size >= 1e-3 && size < 10 ** digits)) return show(value, digits);
  return separated(value.toPrecision(digits).replace("-", "−"));
}

/** How many decimals show about four digits of these values; 0 if all are whole numbers. */
export function decimals(values: ArrayLike<number>): number {
  const [low, high] = extent(values);
  let all = true;
  for (let i = 0; i < values.length && all; i += 1 + Math.floor(values.length / 1000)) all = Number.isNaN(values[i]) || Number.isInteger(values[i]);
  if (all) return 0;
  return Math.min(8, Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high), 1e-9)))));
}

export function withDecimals(value: number, digits: number): string {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e9) return show(value, 6);
  return separated(value.toFixed(digits).replace("-", "−"));
}

/** A number with a sign and a fixed number of decimals. */
export function signed(value: number | null, decimals = 3): string {
  if (value === null || !Number.isFinite(value)) return show(value);
  const size = Math.abs(value).toFixed(decimals);
  return (Number(size) === 0 ? "±" : value < 0 ? "−" : "+") + size;
}

/** A whole number with commas between thousands, as in the command. */
export const whole = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

/** Text whose negative numbers have a true minus sign. */
export const minus = (text: string): string => text.replace(/(^|[ (–])-(?=\d)/g, "$1−");

export const plural = (n: number, noun: string): string => `${whole(n)} ${noun}${n === 1 ? "" : "s"}`;

/** A probability to two digits, or an upper bound if it is tiny. */
export function probability(value: number | null): string {
  if (value === null) return "–";
  return value < 0.0001 ? "< 0.0001" : show(value, 2);
}

export interface Scale {
  (value: number): number;
  domain: [number, number];
  invert: (pixel: number) => number;
}

export function linear(domain: [number, number], range: [number, number]): Scale {
  const [a, b] = domain[0] === domain[1] ? [domain[0] - 1, domain[1] + 1] : domain;
  const slope = (range[1] - range[0]) / (b - a);
  const scale = ((value: number) => range[0] + (value - a) * slope) as Scale;
  scale.domain = [a, b];
  scale.invert = (pixel) => a + (pixel - range[0]) / slope;
  return scale;
}

/** How many ticks fit in a length. */
export const tickCount = (length: number, each: number): number => Math.max(3, Math.round(length / each));

/** About `count` round values within the domain, but at least three, with their labels. */
export function ticks([a, b]: [number, number], count: number): { value: number; label: string }[] {
  const span = b - a;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const within = (step: number): number => Math.floor(b / step + 1e-9) - Math.ceil(a / step - 1e-9) + 1;
  const steps = [10, 5, 2, 1, 0.5].map((multiple) => multiple * power);
  const step = steps.find((size) => within(size) >= Math.min(3, count) && size <= 2 * rough) ?? rough;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const out = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + step * 1e-9; k++) {
    const value = k * step;
    const size = Math.max(Math.abs(a), Math.abs(b));
    const label = size >= 1e7 || size < 1e-4 ? show(value, 3) : separated(value.toFixed(decimals).replace("-", "−"));
    out.push({ value, label: /^−0(\.0+)?$/.test(label) ? label.slice(1) : label });
  }
  return out;
}

/** Smallest and largest finite value. */
export function extent(...arrays: ArrayLike<number>[]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const values of arrays)
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isFinite(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  return low <= high ? [low, high] : [0, 1];
}

/** Quantiles of the finite values (of a sorted copy). */
export function quantiles(values: ArrayLike<number>, at: number[]): number[] {
  const sorted = Float64Array.from(values).filter(Number.isFinite).sort();
  if (!sorted.length) return at.map(() => 0);
  return at.map((p) => sorted[Math.round(p * (sorted.length - 1))]);
}

/** The range of a plot: all values up to 7.5 interquartile ranges (ten standard deviations of a
 * Gaussian) from the median. Otherwise a few values far out would squeeze the others. */
export function reach(values: ArrayLike<number>): [number, number] {
  const [least, first, middle, third, most] = quantiles(values, [0, 0.25, 0.5, 0.75, 1]);
  const far = third > first ? 7.5 * (third - first) : Infinity;
  return [Math.max(least, middle - far), Math.min(most, middle + far)];
}

/** A value moved into an interval. NaN stays NaN. */
export const clamp = (value: number, low: number, high: number): number => (value < low ? low : value > high ? high : value);
