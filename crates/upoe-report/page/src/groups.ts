// The groups of rows: how large each is, how it differs from the others, and which known labels they match.

import { h, named } from "./dom";
import { exact, minus, plural } from "./number";
import type { Groups } from "./schema";
import type { Store } from "./store";

/** Differences that are shown of a group with more than MOST, before the others are asked for. */
const FIRST = 8;
const MOST = 10;

export function groups(store: Store, all: Groups, labels: ArrayLike<number>): HTMLElement {
  if (all.none !== null) return h("p", { class: "lead" }, all.none);
  return h(
    "div",
    {},
    all.merged === null ? null : h("p", { class: "fine" }, `${all.merged}.`),
    all.agreement.length
      ? h("ul", { class: "agreement", "aria-label": "Agreement with known labels" }, ...all.agreement.map(({ words }) => h("li", {}, ...named(words))))
      : null,
    h("div", { class: "group-cards" }, ...all.groups.map((group, k) => card(store, group, k, labels))),
  );
}

function card(store: Store, group: Groups["groups"][number], k: number, labels: ArrayLike<number>): HTMLElement {
  const { name, rows, share, differences } = group;
  const rest = differences.length > MOST ? differences.length - FIRST : 0;
  const lines = differences.map(({ column, given, mean, difference, low, high }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, column, given === null ? null : h("small", {}, ` for its ${given}`)),
      h("td", {}, exact(mean, 4)),
      h("td", {}, minus(difference)),
      h("td", {}, minus(`${low} to ${high}`)),
    ),
  );
  if (rest) lines.slice(FIRST).forEach((line) => (line.hidden = true));
  const more: HTMLElement | null =
    rest
      ? h("button", { type: "button", class: "quiet", click: () => {
          lines.forEach((line) => (line.hidden = false));
          more?.remove();
        } }, `Show the other ${rest} differences`)
      : null;
  return h(
    "article",
    { class: "group-card", id: `group-${k + 1}`, "aria-label": `Group ${k + 1}` },
    h("header", {}, h("h3", {}, `Group ${k + 1}`), h("button", { type: "button", class: "quiet", click: () => store.select((row) => labels[row] === k), "aria-label": `Select group ${k + 1}` }, "Select")),
    h("p", { class: "words" }, name),
    h("p", { class: "fine" }, `${plural(rows, "row")}, ${(100 * share).toFixed(0)}\u00a0%`),
    differences.length
      ? h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": `How group ${k + 1} differs` },
          h(
            "table",
            {},
            h("thead", {}, h("tr", {}, ...["column", "mean", "differs by", "95 % interval"].map((text) => h("th", { scope: "col" }, text)))),
            h("tbody", {}, ...lines),
          ),
        )
      : h("p", { class: "fine" }, "Its mean differs from that of the other rows in no column."),
    more,
  );
}
