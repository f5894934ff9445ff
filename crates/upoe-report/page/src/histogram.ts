// A histogram of one quantity, with densities over it. Drag to select rows.

import { type Quantity, floats } from "./data";
import { s } from "./dom";
import { clamp, linear, plural, type Scale, show, whole } from "./number";
import { axisX, type Box, line, Picture, publish } from "./picture";
import type { Expert, Histogram } from "./schema";
import { combineOf, type Store } from "./store";

export interface HistogramOptions {
  title: string;
  of?: string;
  note?: string;
  quantity: Quantity;
  bins: Histogram;
  curve?: Expert["curve"];
  axis: string;
  /** Values to mark below the bars. */
  marks?: number[];
  height?: number;
}

/** Index of a value's bin, −1 for NaN. The first and last bins include values beyond them. */
function binOf({ from, width, counts }: Histogram, value: number): number {
  const bin = clamp(Math.floor((value - from) / width), 0, counts.length - 1);
  return Number.isNaN(bin) ? -1 : bin;
}

function count(bins: Histogram, values: Float32Array, mask?: Uint8Array): Float64Array {
  const out = new Float64Array(bins.counts.length);
  for (let i = 0; i < values.length; i++) {
    if (mask && !mask[i]) continue;
    const bin = binOf(bins, values[i]);
    if (bin >= 0) out[bin]++;
  }
  return out;
}

export function histogram(options: HistogramOptions, store: Store): Picture {
  const { quantity, bins, curve } = options;
  const total = bins.counts.reduce((sum, value) => sum + value, 0) || 1;
  const edge = (bin: number): number => bins.from + bin * bins.width;
  const end = edge(bins.counts.length);
  const domain: [number, number] = curve ? [Math.min(curve.from, bins.from), Math.max(curve.to, end)] : [bins.from - bins.width, end + bins.width];
  const fitted = curve && floats(curve.fitted);
  const gaussian = curve && floats(curve.gaussian);
  const components = curve?.components.map(floats) ?? [];
  const grid = fitted && Float64Array.from(fitted, (_, i) => curve.from + ((curve.to - curve.from) * i) / (fitted.length - 1));
  const shown = count(bins, quantity.values());
  let x: Scale = linear(domain, [0, 1]);
  let box: Box = { left: 0, right: 0, top: 0, bottom: 0 };
  const brush = s("rect", { class: "brush", visibility: "hidden" });

  const needle = s("line", { class: "hover", visibility: "hidden" });
  /** Marks the row under the pointer. */
  const follow = (): void => {
    const at = store.hover < 0 ? NaN : x(clamp(quantity.values()[store.hover], ...domain));
    needle.setAttribute("visibility", Number.isFinite(at) ? "visible" : "hidden");
    if (!Number.isFinite(at)) return;
    for (const [name, value] of Object.entries({ x1: at, x2: at, y1: box.top, y2: box.bottom })) needle.setAttribute(name, value.toFixed(1));
  };

  const draw = (picture: Picture): void => {
    const { svg, width, height } = picture;
    box = { left: 2, right: width - 2, top: 12, bottom: height - 38 };
    x = linear(domain, [box.left, box.right]);
    const heights = bins.counts.map((value) => value / (total * bins.width));
    const drawn = store.show !== "data" && quantity.samples ? quantity.samples() : null;
    const outline = drawn && Array.from(count(bins, drawn), (value) => value / (drawn.length * bins.width));
    let top = Math.max(...heights, ...(fitted ?? []), ...(outline ?? []));
    if (gaussian) top = Math.max(top, ...gaussian);
    const y = linear([0, (Number.isFinite(top) && top > 0 ? top : 1) * 1.04], [box.bottom, box.top]);
    publish(svg, box, x, y);
    axisX(svg, box, x, options.axis);
    const beyond = bins.below + bins.above;
    if (beyond && store.show === "data")
      svg.append(s("text", { class: "beyond", x: box.left, y: box.bottom + 32 }, `${whole(beyond)} beyond the ends`));

    const selected = store.selected ? count(bins, quantity.values(), store.mask) : null;
    const bars = s("g", { class: selected ? "bars faded" : "bars" });
    const bright = s("g", { class: "bars selected" });
    if (store.show !== "samples")
      heights.forEach((value, bin) => {
        const left = x(edge(bin));
        const wide = Math.max(0.5, x(edge(bin + 1)) - left - (bins.counts.length > 40 ? 0.5 : 1));
        if (value) bars.append(s("rect", { x: left.toFixed(1), y: y(value).toFixed(1), width: wide.toFixed(1), height: (box.bottom - y(value)).toFixed(1) }));
        if (selected?.[bin]) {
          // The share of the bin's shown rows, so that it is right even if only a sample is shown.
          const part = value * (selected[bin] / shown[bin]);
          bright.append(
            s("rect", {
              x: left.toFixed(1), y: y(part).toFixed(1), width: wide.toFixed(1), height: (box.bottom - y(part)).toFixed(1),
              "data-count": selected[bin],
            }),
          );
        }
      });
    svg.append(bars, bright);
    if (grid && fitted && gaussian) {
      for (const component of components) svg.append(s("path", { class: "component", d: line(grid, component, x, y) }));
      svg.append(s("path", { class: "gaussian", d: line(grid, gaussian, x, y) }));
      svg.append(s("path", { class: "fitted", d: line(grid, fitted, x, y) }));
    }
    if (outline) {
      let path = `M${x(edge(0))},${box.bottom}`;
      outline.forEach((value, bin) => (path += `V${y(value).toFixed(1)}H${x(edge(bin + 1)).toFixed(1)}`));
      svg.append(s("path", { class: "outline", d: `${path}V${box.bottom}` }));
      svg.append(s("text", { class: "outline-label", x: box.left, y: box.bottom + 32 }, "drawn from the model"));
    }
    for (const mark of options.marks ?? [])
      svg.append(s("path", { class: "mark", d: `M${x(clamp(mark, bins.from, end)).toFixed(1)},${box.bottom - 1}l-4,-8h8Z` }));
    svg.append(brush, needle);
    follow();
    picture.stage.dataset.selected = String(store.selected);
    picture.stage.dataset.shown = store.show;
    const highest = heights.indexOf(Math.max(...heights));
    picture.describe(
      `Histogram of ${whole(total)} rows from ${show(bins.from)} to ${show(end)}, highest near ${show(edge(highest + 0.5))}.` +
        (selected ? ` ${whole(selected.reduce((sum, value) => sum + value, 0))} selected rows are highlighted.` : "") +
        (beyond ? ` The first and last bars include ${plural(beyond, "row")} beyond them.` : "") +
        (outline ? " The outline shows rows drawn from the model." : ""),
    );
  };

  const picture = new Picture({
    title: options.title,
    of: options.of,
    note: options.note,
    class: "histogram",
    keys: "Arrow keys select a bar. Shift and arrow keys extend the selection. Escape clears it.",
    height: (width) => options.height ?? Math.min(300, Math.max(200, width * 0.5)),
    draw,
  });
  interact(picture, store, quantity, bins, brush, () => ({ x, box }));
  store.on(["selection", "show", "theme"], () => picture.redraw());
  store.on(["hover"], follow);
  return picture;
}

function interact(
  picture: Picture,
  store: Store,
  quantity: Quantity,
  bins: Histogram,
  brush: SVGRectElement,
  frame: () => { x: Scale; box: Box },
): void {
  const { stage } = picture;
  let start: number | null = null;
  const at = (event: PointerEvent): number => event.clientX - stage.getBoundingClientRect().left;
  const range = (a: number, b: number, event: { shiftKey: boolean; altKey: boolean }): void => {
    const values = quantity.values();
    const [low, high] = a < b ? [a, b] : [b, a];
    // The first and last bars include rows beyond the bins.
    const end = bins.from + bins.width * bins.counts.length;
    store.select((row) => {
      const value = clamp(values[row], bins.from, end);
      return value >= low && value <= high;
    }, combineOf(event));
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    stage.focus({ preventScroll: true, focusVisible: false });
    start = at(event);
    event.preventDefault();
  });
  stage.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const { box } = frame();
    const [a, b] = [start, at(event)].map((px) => Math.min(box.right, Math.max(box.left, px))).sort((p, q) => p - q);
    brush.setAttribute("visibility", "visible");
    for (const [name, value] of Object.entries({ x: a, width: b - a, y: box.top - 4, height: box.bottom - box.top + 4 }))
      brush.setAttribute(name, String(value));
  });
  const end = (event: PointerEvent): void => {
    if (start === null) return;
    const { x } = frame();
    if (event.type === "pointerup") {
      if (Math.abs(at(event) - start) > 3) range(x.invert(start), x.invert(at(event)), event);
      else store.clear();
    }
    start = null;
    brush.setAttribute("visibility", "hidden");
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);

  let anchor = -1;
  let cursor = -1;
  stage.addEventListener("keydown", (event) => {
    const last = bins.counts.length - 1;
    if (event.key === "Escape") {
      anchor = cursor = -1;
      store.clear();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const step = event.key === "ArrowLeft" ? -1 : 1;
      cursor = cursor < 0 ? Math.floor(last / 2) : Math.min(last, Math.max(0, cursor + step));
      if (!event.shiftKey || anchor < 0) anchor = cursor;
      const values = quantity.values();
      const [low, high] = [Math.min(anchor, cursor), Math.max(anchor, cursor)];
      store.select((row) => {
        const bin = binOf(bins, values[row]);
        return bin >= low && bin <= high;
      });
    } else return;
    event.preventDefault();
  });
}

/** Equal bins for a quantity. */
export function binned(values: Float32Array, bins: number, low: number, high: number): Histogram {
  const width = high > low ? (high - low) / bins : 1;
  const [below, above] = [values.filter((value) => value < low).length, values.filter((value) => value > high).length];
  const out = { from: low, width, counts: new Array<number>(bins).fill(0), below, above };
  count(out, values).forEach((value, bin) => (out.counts[bin] = value));
  return out;
}
