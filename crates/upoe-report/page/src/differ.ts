// How the selected rows differ from the others, column by column.

import { barChart } from "./bars";
import type { Data, Quantity } from "./data";
import { h } from "./dom";
import { plural, show, signed } from "./number";
import type { Store } from "./store";

/** Columns that are shown. */
const MOST = 12;

interface Difference {
  label: string;
  inside: number;
  outside: number;
  /** The difference in standard deviations of all rows. */
  size: number;
}

/** The means of the selected rows and of the others. */
function difference({ label, values }: Quantity, mask: Uint8Array): Difference {
  const sums = [0, 0];
  const counts = [0, 0];
  let squares = 0;
  const all = values();
  const origin = Number.isFinite(all[0]) ? all[0] : 0;
  for (let row = 0; row < all.length; row++) {
    const value = all[row] - origin;
    if (!Number.isFinite(value)) continue;
    sums[mask[row]] += value;
    counts[mask[row]]++;
    squares += value * value;
  }
  const n = counts[0] + counts[1];
  const mean = (sums[0] + sums[1]) / n;
  const deviation = Math.sqrt(Math.max(0, squares / n - mean * mean));
  const [outside, inside] = [sums[0] / counts[0], sums[1] / counts[1]];
  const size = deviation > 0 ? (inside - outside) / deviation : 0;
  return { label, inside: inside + origin, outside: outside + origin, size };
}

/** Of each column of labels, the one that is most over-represented among the selected rows. */
function labels(data: Data, store: Store): string[] {
  return data.texts.flatMap(({ label, levels, codes }) => {
    if (levels.length > 20) return [];
    const of = codes();
    const inside = new Float64Array(levels.length);
    const all = new Float64Array(levels.length);
    for (let row = 0; row < data.count; row++) {
      all[of[row]]++;
      inside[of[row]] += store.mask[row];
    }
    const lift = levels.map((_, at) => inside[at] / store.selected - all[at] / data.count);
    const at = lift.indexOf(Math.max(...lift));
    if (!(lift[at] > 0.02)) return [];
    const percent = (share: number): string => `${(100 * share).toFixed(0)}\u00a0%`;
    return [`${label} is ${levels[at]} in ${percent(inside[at] / store.selected)} of them, and in ${percent(all[at] / data.count)} of all rows.`];
  });
}

export function differ(data: Data, store: Store): HTMLElement {
  let found: Difference[] = [];
  const picture = barChart({
    title: "How the selected rows differ",
    note: "from the other rows, in standard deviations of each column",
    class: "weights-chart",
    bars: () => found.map(({ label, size, inside, outside }) => ({ label, value: size, note: `mean ${show(inside)}, others ${show(outside)}` })),
  });
  const list = h("ul", { class: "fine" });
  const rest = h("p", { class: "fine" });
  const part = h("div", { class: "differ", hidden: true }, picture.root, rest, list);
  const fill = (): void => {
    const some = store.selected > 0 && store.selected < data.count;
    part.hidden = !some;
    if (!some) return;
    const all = data.columns.map((column) => difference(column, store.mask)).filter(({ size }) => Number.isFinite(size));
    all.sort((a, b) => Math.abs(b.size) - Math.abs(a.size));
    found = all.slice(0, MOST);
    const least = Math.abs(found[0]?.size ?? 0) > 0 ? found[0] : null;
    rest.textContent = least
      ? `Most in ${least.label}: on average ${show(least.inside)} instead of ${show(least.outside)} (${signed(least.size, 1)} standard deviations).${all.length > MOST ? ` ${plural(all.length - MOST, "other column")} differ less.` : ""}`
      : "";
    list.replaceChildren(...labels(data, store).map((text) => h("li", {}, text)));
    picture.redraw();
  };
  store.on(["selection"], fill);
  return part;
}
