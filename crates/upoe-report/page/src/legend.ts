// The legend of a cloud, drawn above its points.

import { type Colouring, css } from "./colour";
import { s } from "./dom";
import { fit, measure } from "./picture";
import type { Show } from "./store";

/** The widest label of a legend, in pixels. */
const MOST = 260;

export function drawLegend(colours: Colouring, show: Show, width: number, left: number): { group: SVGGElement; height: number } {
  const group = s("g", { class: "legend" });
  let x = left;
  let y = 12;
  const room = (wide: number): void => {
    if (x + wide > width - 4 && x > left) {
      x = left;
      y += 18;
    }
  };
  const entry = (mark: SVGElement, label: string): void => {
    const text = fit(label, Math.min(MOST, width - x - 20));
    group.append(mark, s("text", { x: x + 10, y: y + 4 }, text));
    x += 24 + measure(text);
  };
  if (show !== "samples") {
    const label = fit(colours.label, 200);
    group.append(s("text", { x, y: y + 4, class: "label" }, label));
    x += 12 + measure(label);
    if (colours.ends) {
      room(180);
      group.append(s("text", { x, y: y + 4 }, colours.ends[0]));
      x += 8 + measure(colours.ends[0]);
      for (let t = 0; t < 40; t++)
        group.append(s("rect", { x: x + t * 2, y: y - 4, width: 2.2, height: 8, fill: css(colours.palette[Math.round((t / 39) * 255)]) }));
      group.append(s("text", { x: x + 88, y: y + 4 }, colours.ends[1]));
      x += 116 + measure(colours.ends[1]);
    }
    colours.levels?.forEach((level, at) => {
      room(24 + Math.min(MOST, measure(level)));
      entry(glyph(colours.shapes?.[at] ?? "disc", x, y, css(colours.palette[at])), level);
    });
  }
  if (show !== "data") {
    room(170);
    entry(s("circle", { cx: x + 1, cy: y, r: 3.4, class: "sample" }), "drawn from the model");
  }
  return { group, height: y + 6 };
}

/** A legend mark. */
function glyph(shape: string, x: number, y: number, fill: string): SVGElement {
  const r = 4;
  const path = (points: number[][]): SVGElement =>
    s("path", { d: `M${points.map(([a, b]) => `${x + 1 + a * r},${y + b * r}`).join("L")}Z`, fill });
  switch (shape) {
    case "square": return path([[-0.86, -0.86], [0.86, -0.86], [0.86, 0.86], [-0.86, 0.86]]);
    case "triangle": return path([[0, -1.24], [1.12, 0.7], [-1.12, 0.7]]);
    case "down": return path([[0, 1.24], [1.12, -0.7], [-1.12, -0.7]]);
    case "diamond": return path([[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]]);
    case "plus":
      return path([
        [-0.32, -1.1], [0.32, -1.1], [0.32, -0.32], [1.1, -0.32], [1.1, 0.32], [0.32, 0.32],
        [0.32, 1.1], [-0.32, 1.1], [-0.32, 0.32], [-1.1, 0.32], [-1.1, -0.32], [-0.32, -0.32],
      ]);
    case "cross": return s("path", { d: `M${x - 2},${y - 3}l6,6m0,-6l-6,6`, stroke: fill, "stroke-width": 2.4 });
    default: return s("circle", { cx: x + 1, cy: y, r, fill });
  }
}
