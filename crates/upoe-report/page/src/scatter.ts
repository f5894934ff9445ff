// Any two quantities against each other.

import { startingAxes } from "./axes";
import { Cloud, type Tool } from "./cloud";
import type { Data, Quantity } from "./data";
import { choice, h, s, segments, wide } from "./dom";
import { clamp, linear, plural, reach, type Scale, tickCount, ticks } from "./number";
import { axisX, axisY, publish } from "./picture";
import type { Store } from "./store";
import type { Tip } from "./tip";

export function scatter(data: Data, store: Store, tip: Tip): HTMLElement {
  const quantities = data.quantities();
  let [across, up] = startingAxes(data, store.colour);
  let x: Scale;
  let y: Scale;
  const domains = new Map<Quantity, [number, number]>();
  const domain = (quantity: Quantity): [number, number] => {
    let known = domains.get(quantity);
    if (!known) {
      const [low, high] = reach(quantity.values());
      const pad = (high - low || 1) * 0.04;
      domains.set(quantity, (known = [low - pad, high + pad]));
    }
    return known;
  };
  /** How many rows lie outside the frame. */
  const beyond = (): number => {
    const [xs, ys, [a, b], [c, d]] = [across.values(), up.values(), x.domain, y.domain];
    let count = 0;
    for (let i = 0; i < xs.length; i++) if (xs[i] < a || xs[i] > b || ys[i] < c || ys[i] > d) count++;
    return count;
  };
  const cloud = new Cloud(
    data,
    store,
    tip,
    {
      title: "Scatter plot",
      keys: "Arrow keys move from row to row. Enter selects or deselects the row. Escape clears the selection.",
      height: (width) => Math.min(620, Math.max(340, width * 0.78)),
      margin: { left: 48, right: 10, top: 30, bottom: 42 },
      tool: "rectangle",
    },
    {
      place: (box, px, py, samples) => {
        const a = samples ? across.samples?.() : across.values();
        const b = samples ? up.samples?.() : up.values();
        if (!a || !b || !x || !y) return false;
        // Rows outside the frame are drawn at its edge, so that they can still be selected.
        const [left, right, top, bottom] = [box.left + 3, box.right - 3, box.top + 3, box.bottom - 3];
        for (let i = 0; i < px.length; i++) {
          px[i] = clamp(x(a[i]), left, right);
          py[i] = clamp(y(b[i]), top, bottom);
        }
        return true;
      },
      overlay: (svg, box) => {
        x = linear(domain(across), [box.left, box.right]);
        y = linear(domain(up), [box.bottom, box.top]);
        publish(svg, box, x, y);
        axisY(svg, box, y, up.label, false);
        axisX(svg, box, x, across.label);
        const out = beyond();
        if (out) svg.append(s("text", { class: "beyond", x: box.left, y: box.bottom + 32 }, `${plural(out, "row")} outside, drawn at the edge`));
      },
      grid: () => {
        const [a, b] = [x.domain, y.domain];
        return {
          x: ticks(a, tickCount(Math.abs(x(a[1]) - x(a[0])), 80)).map(({ value }) => x(value)),
          y: ticks(b, tickCount(Math.abs(y(b[1]) - y(b[0])), 50)).map(({ value }) => y(value)),
        };
      },
      describe: () => `${up.label} against ${across.label}.`,
    },
  );
  const axes = [
    { label: "Projections", options: data.projections.map(({ id, label }) => ({ value: id, label })) },
    { label: "Columns", options: data.columns.map(({ id, label }) => ({ value: id, label })) },
    { label: "Density", options: [{ value: "lnp", label: "ln p" }] },
  ];
  const find = (id: string): Quantity => quantities.find((quantity) => quantity.id === id) ?? across;
  return h(
    "div",
    { class: "with-controls" },
    cloud.picture.root,
    h(
      "div",
      { class: "controls" },
      choice("Horizontal axis", axes, across.id, (id) => {
        across = find(id);
        cloud.picture.redraw();
      }),
      choice("Vertical axis", axes, up.id, (id) => {
        up = find(id);
        cloud.picture.redraw();
      }),
      colourChoice(data, store),
      segments(
        "Select with",
        [
          { value: "rectangle", label: "Rectangle" },
          { value: "lasso", label: "Lasso" },
        ],
        "rectangle",
        (tool) => (cloud.tool = tool as Tool),
      ),
      h("p", { class: "fine" }, "Drag to select rows. Hold Shift to add rows, or Alt to remove them. Click a row to select it. Click an empty place to clear the selection."),
    ),
  );
}

function colourChoice(data: Data, store: Store): HTMLElement {
  return wide(choice(
    "Colour by",
    [
      { label: "Density", options: [{ value: "lnp", label: "ln p" }] },
      { label: "Groups", options: data.clusters.map(({ id, label }) => ({ value: id, label })) },
      { label: "Columns", options: [...data.colourable(), ...data.columns].map(({ id, label }) => ({ value: id, label })) },
      { label: "Projections", options: data.projections.map(({ id, label }) => ({ value: id, label })) },
    ],
    store.colour,
    (id) => store.setColour(id),
  ));
}
