// Mean ln p against the number of experts.

import { h, s } from "./dom";
import { extent, linear, plural, show, signed } from "./number";
import { axisY, line, measure, Picture, publish } from "./picture";
import type { Page, Real } from "./schema";

export function gain(page: Page): HTMLElement {
  const { path } = page;
  const lines = [
    { label: "training rows", class: "train", values: path.train },
    { label: "held-out rows", class: "holdout", values: path.holdout },
    { label: "training, penalised", class: "penalised", values: path.penalised },
  ].filter((entry): entry is { label: string; class: string; values: Real[] } => entry.values !== null);
  const counts = path.train.map((_, j) => j);
  const last = counts.length - 1;
  const label = "mean ln p per sphered row, in nats";

  const draw = (picture: Picture): void => {
    const { svg, width, height } = picture;
    const wide = width > 560;
    const [low, high] = extent(...lines.map((entry) => entry.values.map((value) => value ?? NaN)));
    const pad = (high - low || 1) * 0.1;
    const box = { left: 52, right: width - (wide ? 150 : 12), top: wide ? 34 : 54, bottom: height - 42 };
    const x = linear([0, Math.max(1, last)], [box.left + 14, box.right - 14]);
    const y = linear([low - pad, high + pad], [box.bottom, box.top]);
    publish(svg, box, x, y);
    axisY(svg, box, y, wide ? label : "");
    if (!wide) svg.append(s("text", { class: "label", x: 14, y: 14 }, label));
    let legend = 14;
    const group = s("g", { class: "axis" }, s("line", { x1: box.left, x2: box.right, y1: box.bottom + 0.5, y2: box.bottom + 0.5, class: "rule" }));
    const every = Math.max(1, Math.ceil(counts.length / Math.max(2, (box.right - box.left) / 34)));
    for (const j of counts)
      if (j % every === 0) group.append(s("text", { x: x(j), y: box.bottom + 17, "text-anchor": "middle" }, String(j)));
    group.append(s("text", { x: box.right, y: box.bottom + 34, "text-anchor": "end", class: "label" }, "experts"));
    const at = x(path.optimum);
    const side = path.optimum > last / 2 ? "end" : "start";
    svg.append(
      group,
      s("line", { class: "optimum", x1: at, x2: at, y1: box.top - 4, y2: box.bottom }),
      s("text", { class: "optimum-label", x: at + (side === "end" ? -7 : 7), y: box.bottom - 8, "text-anchor": side }, `optimum: ${path.optimum}`),
    );
    // Labels at the ends of lines, moved apart so that they do not overlap.
    const ends = lines.map((entry) => ({ entry, y: y(entry.values[last] ?? NaN) })).sort((a, b) => a.y - b.y);
    ends.forEach((end, k) => (end.y = Math.max(end.y, k ? ends[k - 1].y + 16 : -Infinity)));
    ends.forEach(({ entry, y: labelY }) => {
      svg.append(s("path", { class: `path ${entry.class}`, d: line(counts, entry.values.map((value) => value ?? NaN), x, y) }));
      entry.values.forEach((value, j) => {
        if (value === null) return;
        const name = `${plural(j, "expert")}, ${entry.label}: ${show(value, 6)}`;
        const mark = s("circle", { class: `dot ${entry.class}${j === path.optimum ? " best" : ""}`, cx: x(j), cy: y(value), r: counts.length > 30 ? 2.5 : 4 }, s("title", {}, name));
        svg.append(mark);
      });
      if (wide) svg.append(s("text", { class: `end ${entry.class}`, x: box.right + 6, y: labelY + 4 }, entry.label));
      else {
        svg.append(s("text", { class: `end ${entry.class}`, x: legend, y: 34 }, entry.label));
        legend += 16 + measure(entry.label);
      }
    });
    const first = path.train[0] ?? 0;
    picture.describe(
      [`Mean ln p per training row: ${show(first, 5)} without experts (the Gaussian)`, ...counts.slice(1).map((j) => `${show(path.train[j], 5)} with ${j}`)].join(", ") +
        `. Optimum: ${plural(path.optimum, "expert")}.`,
    );
  };
  const picture = new Picture({ title: "Gain curve", class: "gain", height: (width) => Math.min(380, Math.max(260, width * 0.42)), draw });
  const rows = counts.map((j) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, String(j)),
      ...lines.map((entry) => h("td", {}, show(entry.values[j], 6))),
      h("td", {}, j ? signed((path.train[j] ?? NaN) - (path.train[j - 1] ?? NaN), 4) : ""),
    ),
  );
  return h(
    "div",
    {},
    picture.root,
    h("p", { class: "fine" }, path.rule),
    path.sum === null ? null : h("p", { class: "fine" }, path.sum),
    h(
      "details",
      { class: "numbers" },
      h("summary", {}, "Numbers"),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gain curve as numbers" },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "experts"), ...lines.map((entry) => h("th", { scope: "col" }, entry.label)), h("th", { scope: "col" }, "gain"))),
          h("tbody", {}, ...rows),
        ),
      ),
    ),
  );
}
