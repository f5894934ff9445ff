// What is missing where, and what the model expects there.

import { barChart } from "./bars";
import { conditional } from "./conditional";
import type { Data } from "./data";
import { h } from "./dom";
import { minus, plural, whole } from "./number";
import type { Missing } from "./schema";
import type { Store } from "./store";

/** Columns that are listed at first. */
const FIRST = 15;

export function missing(data: Data, store: Store, all: Missing): HTMLElement {
  const name = (at: number): string => data.page.summary.columns[at].name;
  const left = all.rows - all.filled.length;
  const lines = all.filled.map(({ position, cells }) =>
    h(
      "tr",
      { pointerenter: () => store.setHover(position), pointerleave: () => store.setHover(-1) },
      h("th", { scope: "row" }, String(data.number[position])),
      h("td", { class: "words" }, cells.map(({ column, words }) => minus(words.replace(`${name(column)} missing, expected`, name(column)))).join("; ")),
    ),
  );
  return h(
    "div",
    {},
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        barChart({
          title: "Missing cells of each column",
          note: "percent",
          class: "weights-chart",
          decimals: 1,
          plain: true,
          bars: () => all.columns.slice(0, FIRST).map(({ name, cells, share }) => ({ label: name, value: 100 * share, note: plural(cells, "cell") })),
        }).root,
        all.columns.length > FIRST ? h("p", { class: "fine" }, `${plural(all.columns.length - FIRST, "more column")} with fewer missing cells.`) : null,
      ),
      lines.length
        ? h(
            "div",
            {},
            h("h3", {}, "Filled in"),
            h(
              "div",
              { class: "scroll", tabindex: 0, role: "region", "aria-label": "Missing cells, filled in" },
              h("table", { class: "filled" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "row"), h("th", { scope: "col" }, "expected values, with 90 % intervals"))), h("tbody", {}, ...lines)),
            ),
            left > 0 ? h("p", { class: "fine" }, `${whole(left)} more. “upoe impute” fills in all of them.`) : null,
          )
        : null,
    ),
    conditional(data, store, all.filled),
  );
}
