// The selected rows as a table, and the bar that shows how many are selected.

import type { Data, Quantity } from "./data";
import { differ } from "./differ";
import { h } from "./dom";
import { plural, whole } from "./number";
import { download } from "./save";
import type { Store } from "./store";

const PAGE = 100;

interface Field {
  label: string;
  number: boolean;
  text: (row: number) => string;
  /** The sort key of a row. */
  key: (row: number) => number | string;
}

function fields(data: Data): Field[] {
  const quantity = ({ label, values, text }: Quantity): Field => ({
    label,
    number: true,
    text: (row) => text(values()[row]),
    key: (row) => values()[row],
  });
  return [
    { label: "row", number: true, text: (row) => String(data.number[row]), key: (row) => data.number[row] },
    quantity(data.logDensity),
    ...data.texts.map(({ label, levels, codes }) => {
      const text = (row: number): string => levels[codes()[row]] ?? "–";
      return { label, number: false, text, key: text };
    }),
    ...data.projections.slice(0, 30).map(quantity),
    ...data.columns.slice(0, 60).map(quantity),
  ];
}

export function table(data: Data, store: Store): { section: HTMLElement; bar: HTMLElement } {
  const columns = fields(data);
  let sort = 0;
  let falling = false;
  let most = PAGE;
  const body = h("tbody", {});
  const message = h("p", { class: "fine" });
  const more = h("button", { type: "button", class: "quiet", hidden: true, click: () => {
    most += 400;
    fill();
  } }, "Show more");
  const heads = columns.map((field, at) => {
    const press = (): void => {
      falling = sort === at ? !falling : false;
      sort = at;
      fill();
    };
    return h("th", { scope: "col", class: field.number ? "number" : null }, h("button", { type: "button", click: press }, field.label));
  });
  const grid = h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of selected rows" },
    h("table", { class: "rows" }, h("caption", { class: "hidden" }, "Selected rows"), h("thead", {}, h("tr", {}, ...heads)), body),
  );

  const chosen = (): number[] => {
    const rows: number[] = [];
    for (let row = 0; row < data.count; row++) if (store.mask[row]) rows.push(row);
    const { key, number } = columns[sort];
    const way = falling ? -1 : 1;
    return rows.sort((a, b) => {
      const [p, q] = [key(a), key(b)];
      return way * (number ? Number(p) - Number(q) : String(p).localeCompare(String(q))) || a - b;
    });
  };

  function fill(): void {
    const rows = store.selected ? chosen() : [];
    body.replaceChildren(
      ...rows.slice(0, most).map((row) =>
        h(
          "tr",
          { "data-row": data.number[row], pointerenter: () => store.setHover(row), pointerleave: () => store.setHover(-1) },
          ...columns.map((field) => h("td", { class: field.number ? "number" : null }, field.text(row))),
        ),
      ),
    );
    heads.forEach((head, at) => head.setAttribute("aria-sort", at === sort ? (falling ? "descending" : "ascending") : "none"));
    grid.hidden = !rows.length;
    more.hidden = rows.length <= most;
    message.textContent = !rows.length
      ? "No rows are selected. Drag over a histogram or the scatter plot, or enter row numbers above."
      : `${plural(rows.length, "row")} selected${rows.length > most ? `; the first ${most} are listed` : ""}.`;
  }

  const csv = (): void => {
    const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const cell = (field: Field, row: number): string => quote(String(field.key(row)));
    const lines = [columns.map((field) => quote(field.label)).join(",")];
    for (const row of chosen()) lines.push(columns.map((field) => cell(field, row)).join(","));
    download(new Blob([lines.join("\n"), "\n"], { type: "text/csv" }), "selected-rows.csv");
  };

  const input = h("input", { type: "text", id: "row-numbers", placeholder: "1–20, 57", autocomplete: "off" });
  const form = h(
    "form",
    { class: "pick", submit: (event: Event) => {
      event.preventDefault();
      const ranges = [...input.value.matchAll(/(\d+)(?:\s*[-–]\s*(\d+))?/g)].map(([, a, b]) => [Number(a), Number(b ?? a)]);
      store.select((row) => ranges.some(([a, b]) => data.number[row] >= a && data.number[row] <= b));
    } },
    h("label", { for: "row-numbers" }, "Row numbers"),
    input,
    h("button", { type: "submit" }, "Select"),
  );

  const count = h("span", { role: "status", "aria-live": "polite", id: "selected-count" });
  const bar = h(
    "div",
    { class: "selection", role: "region", "aria-label": "Selection", hidden: true },
    count,
    h("a", { href: "#rows" }, "Table"),
    h("button", { type: "button", click: csv }, "Save CSV"),
    h("button", { type: "button", click: () => {
      const before = store.mask.slice();
      store.select((row) => !before[row]);
    } }, "Invert"),
    h("button", { type: "button", click: () => store.clear() }, "Clear"),
  );
  store.on(["selection"], () => {
    most = PAGE;
    fill();
    bar.hidden = !store.selected;
    count.textContent = `${whole(store.selected)} of ${plural(data.count, "row")} selected`;
  });
  fill();
  return { section: h("div", {}, form, differ(data, store), message, grid, more), bar };
}
