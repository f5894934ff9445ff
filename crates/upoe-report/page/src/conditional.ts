// One value of a row: its density given the row's other values. The reader chooses the row and the column.

import { codes, type Data } from "./data";
import { choice, h, s } from "./dom";
import { clamp, linear, minus, probability, show } from "./number";
import { axisX, line, Picture, publish } from "./picture";
import type { Cell, Judgement } from "./schema";
import type { Store } from "./store";

/** A row whose cells have densities. */
export interface Given {
  position: number;
  cells: Cell[];
  /** What a detector says of it. */
  judgement?: Judgement | null;
}

/** How surprising a value is, in words. */
export function surprise({ surprise: share }: Cell): string {
  if (share === null) return "";
  if (share < 0.001) return "fewer than 1 in 1,000 values would be as far out";
  return `${show(100 * share, 2)}\u00a0% of values would be as far out`;
}

export function conditional(data: Data, store: Store, all: Given[]): HTMLElement | null {
  const rows = all.map((row) => ({ ...row, cells: row.cells.filter((cell) => cell.curve.data !== "") })).filter(({ cells }) => cells.length);
  if (!rows.length) return null;
  let row = rows[0];
  const name = (at: number): string => data.page.summary.columns[at].name;
  /** The value that the detector blames most, or the model. */
  const foremost = (): Cell => row.cells.find(({ column }) => row.judgement?.reasons[0]?.startsWith(`${name(column)} `)) ?? row.cells[0];
  let cell = foremost();
  const why = all.some(({ judgement }) => judgement) ? " The reasons above are those of the detector, which learns from the core of the data: its numbers differ." : "";
  const words = h("p", {});
  const draw = (picture: Picture): void => {
    const { svg, width, height } = picture;
    const box = { left: 8, right: width - 8, top: 26, bottom: height - 42 };
    const heights = codes(cell.curve);
    const x = linear([cell.from, cell.to], [box.left, box.right]);
    const y = linear([0, 255 * 1.05], [box.bottom, box.top]);
    publish(svg, box, x, y);
    const grid = Float64Array.from(heights, (_, at) => cell.from + ((cell.to - cell.from) * at) / (heights.length - 1));
    const [low, high] = [cell.low ?? NaN, cell.high ?? NaN];
    const inside = [...grid.keys()].filter((at) => grid[at] >= low && grid[at] <= high);
    if (inside.length > 1) {
      const top = inside.map((at) => `L${x(grid[at]).toFixed(1)},${y(heights[at]).toFixed(1)}`).join("");
      svg.append(s("path", { class: "interval", d: `M${x(grid[inside[0]]).toFixed(1)},${box.bottom}${top}L${x(grid[inside.at(-1)!]).toFixed(1)},${box.bottom}Z` }));
    }
    axisX(svg, box, x, name(cell.column));
    svg.append(s("path", { class: "fitted", d: line(grid, heights, x, y) }));
    const mark = (value: number, kind: string, label: string, level: number): void => {
      const at = clamp(x(value), box.left, box.right);
      const anchor = at < width * 0.25 ? "start" : at > width * 0.75 ? "end" : "middle";
      const beyond = value < cell.from ? "← " : value > cell.to ? "→" : "";
      svg.append(s("text", { class: `at-label ${kind}`, x: at, y: level, "text-anchor": anchor }, beyond === "→" ? `${label} →` : `${beyond}${label}`));
      if (!beyond) svg.append(s("line", { class: `at ${kind}`, x1: at, x2: at, y1: level + 4, y2: box.bottom }));
    };
    if (cell.expected !== null) mark(cell.expected, "expected", `expected ${show(cell.expected)}`, 24);
    if (cell.observed !== null) mark(cell.observed, "observed", `observed ${show(cell.observed)}`, 10);
    picture.describe(`Density of ${name(cell.column)} given the other values of row ${data.number[row.position]}. ${words.textContent}`);
  };
  const picture = new Picture({
    title: "Density of one value",
    note: "90\u00a0% lie in the shaded interval",
    class: "conditional",
    height: (width) => Math.min(260, Math.max(190, width * 0.4)),
    draw,
  });
  const tell = (): void => {
    const far = surprise(cell);
    words.textContent = `${minus(cell.words)}${far ? `; ${far}` : ""}.`;
    picture.redraw();
  };
  const columns = h("div", {});
  const offer = (): void => {
    const options = row.cells.map(({ column, observed, surprise: share }) => ({
      value: String(column),
      label: `${name(column)}${observed === null ? " (missing)" : share === null ? "" : ` (${probability(share)})`}`,
    }));
    columns.replaceChildren(choice("Column", [{ label: "Column", options }], String(cell.column), (value) => {
      cell = row.cells.find(({ column }) => String(column) === value) ?? cell;
      tell();
    }));
  };
  const pick = (position: number): void => {
    row = rows.find((candidate) => candidate.position === position) ?? row;
    cell = foremost();
    offer();
    tell();
  };
  const options = rows.map(({ position }) => ({ value: String(position), label: `Row ${data.number[position]}` }));
  const root = h(
    "div",
    { class: "with-controls" },
    h("div", {}, picture.root, words),
    h(
      "div",
      { class: "controls" },
      choice("Row", [{ label: "Row", options }], String(row.position), (value) => pick(Number(value))),
      columns,
      h("p", { class: "fine" }, "In brackets: the probability of a value as far out."),
    ),
  );
  offer();
  tell();
  store.on(["theme"], () => picture.redraw());
  return h(
    "div",
    { class: "one-value" },
    h("h3", {}, "One value, given the others of its row"),
    h("p", { class: "fine" }, `What the model says of a value, given the others that the row has. Choose a row and a column.${why}`),
    root,
  );
}
