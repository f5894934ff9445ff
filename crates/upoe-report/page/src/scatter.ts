// Any two quantities against each other.

import { Cloud, type Tool } from "./cloud";
import type { Data, Quantity } from "./data";
import { choice, h, segments } from "./dom";
import { extent, linear, type Scale, tickCount, ticks } from "./number";
import { axisX, axisY, publish } from "./picture";
import type { Store } from "./store";
import type { Tip } from "./tip";

export function scatter(data: Data, store: Store, tip: Tip): HTMLElement {
  const quantities = data.quantities();
  let [across, up] = quantities;
  up ??= across;
  let x: Scale;
  let y: Scale;
  const reach = (quantity: Quantity): [number, number] => {
    const drawn = store.show !== "data" ? quantity.samples?.() : undefined;
    const [a, b] = extent(quantity.values(), drawn ?? []);
    const pad = (b - a || 1) * 0.04;
    return [a - pad, b + pad];
  };
  const cloud = new Cloud(
    data,
    store,
    tip,
    {
      title: "Scatter plot",
      keys: "Arrow keys walk from row to row, Enter selects or unselects the row, Escape clears the selection.",
      height: (width) => Math.min(620, Math.max(340, width * 0.78)),
      margin: { left: 48, right: 10, top: 30, bottom: 42 },
      tool: "rectangle",
    },
    {
      place: (_, px, py, samples) => {
        const a = samples ? across.samples?.() : across.values();
        const b = samples ? up.samples?.() : up.values();
        if (!a || !b || !x || !y) return false;
        for (let i = 0; i < px.length; i++) {
          px[i] = x(a[i]);
          py[i] = y(b[i]);
        }
        return true;
      },
      overlay: (svg, box) => {
        x = linear(reach(across), [box.left, box.right]);
        y = linear(reach(up), [box.bottom, box.top]);
        publish(svg, box, x, y);
        axisY(svg, box, y, up.label, false);
        axisX(svg, box, x, across.label);
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
      choice("Across", axes, across.id, (id) => {
        across = find(id);
        cloud.picture.redraw();
      }),
      choice("Up", axes, up.id, (id) => {
        up = find(id);
        cloud.picture.redraw();
      }),
      colourChoice(data, store),
      segments(
        "Select with a",
        [
          { value: "rectangle", label: "Rectangle" },
          { value: "lasso", label: "Lasso" },
        ],
        "rectangle",
        (tool) => (cloud.tool = tool as Tool),
      ),
      h("p", { class: "fine" }, "Drag to select, with Shift to add, with Alt to take away. A click selects one row, a click on nothing clears."),
    ),
  );
}

function colourChoice(data: Data, store: Store): HTMLElement {
  const field = choice(
    "Colour by",
    [
      { label: "Density", options: [{ value: "lnp", label: "ln p" }] },
      { label: "Groups", options: data.clusters.map(({ id, label }) => ({ value: id, label })) },
      { label: "Columns", options: [...data.texts, ...data.columns].map(({ id, label }) => ({ value: id, label })) },
      { label: "Projections", options: data.projections.map(({ id, label }) => ({ value: id, label })) },
    ],
    store.colour,
    (id) => store.setColour(id),
  );
  field.classList.add("wide");
  return field;
}
