// The summary: a few numbers, what to know; likelihoods and settings are folded away.

import { h } from "./dom";
import { show, signed, whole } from "./number";
import type { Likelihood, Page } from "./schema";
import { term } from "./term";

const difference = (a: number | null | undefined, b: number | null): number | null => (a == null || b == null ? null : a - b);

export function summary(page: Page): HTMLElement {
  const { summary: facts, rows, groups, outliers, missing } = page;
  const figure = (value: string, label: string, note = ""): HTMLElement =>
    h("div", { class: "figure" }, h("dt", {}, label, note && h("small", {}, note)), h("dd", {}, value));
  const one = (count: number, singular: string, many: string): string => (count === 1 ? singular : many);
  const odd = outliers.words.match(/^([\d,]+) of/)?.[1];
  const held = facts.holdout_rows ? `${whole(facts.holdout_rows)} held out of the fit` : "";
  return h(
    "div",
    {},
    h(
      "dl",
      { class: "figures" },
      figure(whole(rows.total), one(rows.total, "row", "rows"), held),
      figure(whole(facts.columns.length), one(facts.columns.length, "column", "columns"), facts.dims !== facts.columns.length ? `${facts.dims} dimensions kept` : ""),
      groups ? figure(groups.none === null ? whole(groups.groups.length) : "0", "groups") : null,
      odd === undefined ? null : figure(odd, odd === "1" ? "odd row" : "odd rows", outliers.words.match(/about [\d,.]+$/)?.[0].replace(/\.0$/, "").concat(" by chance alone")),
      missing ? figure(whole(missing.cells), one(missing.cells, "missing cell", "missing cells"), `in ${whole(missing.rows)} ${one(missing.rows, "row", "rows")}`) : null,
    ),
    facts.notices.length ? h("ul", { class: "notices", "aria-label": "Notices" }, ...facts.notices.map((notice) => h("li", {}, ...quoted(notice.replace(/([^.])$/, "$1."))))) : null,
    h("details", { class: "more-about" }, h("summary", {}, "Likelihoods and settings"), details(page)),
  );
}

/** A text with its names in `backticks` as code. */
function quoted(text: string): (Node | string)[] {
  return text.split("`").map((part, i) => (i % 2 ? h("code", {}, part) : part));
}

function details({ summary: facts, experts }: Page): HTMLElement {
  // The way from sphered rows to the columns adds the same to both.
  const both = [facts.log_likelihood, facts.log_density];
  const first = (of: (likelihood: Likelihood) => number | null): number | null => both.map(of).find((value) => value !== null && !Number.isNaN(value)) ?? null;
  const held = first(({ holdout, gaussian_holdout }) => difference(holdout?.mean, gaussian_holdout));
  const gained = held ?? first(({ train, gaussian_train }) => difference(train, gaussian_train));
  return h(
    "div",
    { class: "columns" },
    h(
      "div",
      {},
      h("h3", {}, "How probable the rows are"),
      h("p", { class: "fine" }, "Mean ln p per row, in ", term("nat", "nats"), ". Higher is better. ", term("sphered row", "Sphered rows"), " are centred and have unit covariance."),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Likelihoods" }, likelihoods(facts.log_likelihood, facts.log_density)),
      h("p", { class: "fine" }, `The model has ${experts.length} `, term("expert", experts.length === 1 ? "expert" : "experts"), gained === null ? "." : ` and gains ${signed(gained)} nats per row over the Gaussian, on ${held === null ? "training" : "held-out"} rows.`),
    ),
    h(
      "div",
      {},
      h("h3", {}, "The fit"),
      h(
        "dl",
        { class: "facts" },
        ...[
          ["stopped because", facts.stop_reason],
          ["time", facts.seconds === null ? "–" : `${show(facts.seconds, 3)} s`],
          ...facts.settings.map(({ name, value }) => [name, value]),
          ["upoe version", facts.version],
        ].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
      ),
    ),
  );
}

function likelihoods(sphered: Likelihood, own: Likelihood): HTMLElement {
  const line = (label: string, of: (likelihood: Likelihood) => string): HTMLElement =>
    h("tr", {}, h("th", { scope: "row" }, label), h("td", {}, ...cell(of(sphered))), h("td", {}, ...cell(of(own))));
  // Text after a line break is shown smaller.
  const cell = (text: string): (string | Node)[] => text.split("\n").map((part, at) => (at ? h("small", {}, ` ${part}`) : part));
  const lines = [
    line("model, training rows", (likelihood) => show(likelihood.train, 6)),
    line("Gaussian, training rows", (likelihood) => show(likelihood.gaussian_train, 6)),
  ];
  if (sphered.holdout || own.holdout)
    lines.push(
      line("model, held-out rows", ({ holdout }) =>
        holdout ? `${show(holdout.mean, 6)}${holdout.standard_error === null ? "" : `\n± ${show(holdout.standard_error, 2)}`}` : "–",
      ),
      line("Gaussian, held-out rows", (likelihood) => show(likelihood.gaussian_holdout, 6)),
    );
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "sphered rows"), h("th", { scope: "col" }, "original units"))),
    h("tbody", {}, ...lines),
  );
}
