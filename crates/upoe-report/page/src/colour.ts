// Colours that people with any colour vision can tell apart: Okabe and Ito's
// eight for groups, viridis for amounts, blue–orange for signed pixels.

import type { Data } from "./data";
import { quantiles, show } from "./number";

export type Rgb = [number, number, number];

const rgb = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;

const GROUPS_LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8200", "#333333"].map(rgb);
const GROUPS_DARK = ["#56b4e9", "#e69f00", "#2cc295", "#cc79a7", "#f0e442", "#4a8fd0", "#f07a3a", "#dddddd"].map(rgb);
const VIRIDIS = [
  "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
].map(rgb);

export const dark = (): boolean => document.documentElement.dataset.theme === "dark";

export const css = ([r, g, b]: Rgb): string => `rgb(${r},${g},${b})`;

/** The value of a custom property as numbers. */
export function themed(property: string): Rgb {
  return rgb(getComputedStyle(document.documentElement).getPropertyValue(property).trim());
}

const mix = (a: Rgb, b: Rgb, t: number): Rgb => a.map((from, i) => Math.round(from + (b[i] - from) * t)) as Rgb;

/** Low values get the colour that stands out most from the background. */
export function amount(t: number): Rgb {
  const at = (dark() ? 1 - t * 0.8 : t * 0.92) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at));
  return mix(VIRIDIS[low], VIRIDIS[low + 1], at - low);
}

/** Blue for −1, the background for 0, orange for +1. */
export function diverging(t: number): Rgb {
  return mix(dark() ? [32, 35, 41] : [247, 247, 245], t < 0 ? rgb("#0072b2") : rgb("#d55e00"), Math.min(1, Math.abs(t)));
}

export const SHAPES = ["disc", "square", "triangle", "diamond", "plus", "down", "cross", "disc"] as const;
export type Shape = (typeof SHAPES)[number] | "ring";

/** How rows are coloured: one palette index per row, and the meaning of the palette. */
export interface Colouring {
  label: string;
  index: Uint8Array;
  palette: Rgb[];
  shapes: Shape[] | null;
  /** Group names, for a grouping. */
  levels: string[] | null;
  /** Labels of the two ends, for an amount. */
  ends: [string, string] | null;
}

export function colouring(data: Data, id: string): Colouring {
  const groups = dark() ? GROUPS_DARK : GROUPS_LIGHT;
  const grouping = data.groupings().find((candidate) => candidate.id === id && !candidate.amounts);
  const index = new Uint8Array(data.count);
  if (grouping) {
    const codes = grouping.codes();
    const counts = new Map<number, number>();
    for (let i = 0; i < index.length; i++) counts.set(codes[i], (counts.get(codes[i]) ?? 0) + 1);
    // More than eight groups: the seven largest get a colour each, the others share one.
    const many = counts.size > 8;
    const name = (code: number): string => grouping.levels[code] ?? String(code);
    // Groups keep their order; labels are sorted.
    const sorted = (codes: number[]): number[] =>
      codes.sort((a, b) => (grouping.sorted ? a - b : name(a).localeCompare(name(b), "en", { numeric: true })));
    let kept = sorted([...counts.keys()]);
    if (many) kept = sorted(kept.sort((a, b) => counts.get(b)! - counts.get(a)!).slice(0, 7));
    const position = new Map(kept.map((code, at) => [code, at]));
    for (let i = 0; i < index.length; i++) index[i] = position.get(codes[i]) ?? 7;
    const levels = kept.map(name);
    if (many) levels.push(`${counts.size - 7} others`);
    return { label: grouping.label, index, palette: groups, shapes: [...SHAPES], levels, ends: null };
  }
  const quantity = [...data.quantities(), ...data.amounts].find((candidate) => candidate.id === id) ?? data.logDensity;
  const values = quantity.values();
  const [low, high, least, most] = quantiles(values, [0.02, 0.98, 0, 1]);
  const span = high > low ? high - low : 1;
  for (let i = 0; i < index.length; i++) {
    const t = (values[i] - low) / span;
    index[i] = Number.isNaN(t) ? 0 : Math.round(255 * Math.min(1, Math.max(0, t)));
  }
  return {
    label: quantity.label,
    index,
    palette: Array.from({ length: 256 }, (_, t) => amount(t / 255)),
    shapes: null,
    levels: null,
    ends: [`${least < low ? "≤ " : ""}${show(low, 3)}`, `${most > high ? "≥ " : ""}${show(high, 3)}`],
  };
}
