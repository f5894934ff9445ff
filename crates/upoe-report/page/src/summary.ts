// The summary: a few numbers, the mean ln p and facts about the fit.

import { h } from "./dom";
import { show, signed, whole } from "./number";
import type { Likelihood, Page } from "./schema";

const difference = (a: number | null | undefined, b: number | null): number | null => (a == null || b == null ? null : a - b);

export function summary(page: Page): HTMLElement {
  const { summary: facts, experts, rows } = page;
  const likelihood = facts.log_likelihood;
  const held = difference(likelihood.holdout?.mean, likelihood.gaussian_holdout);
  const trained = difference(likelihood.train, likelihood.gaussian_train);
  const figure = (value: string, label: string, note = ""): HTMLElement =>
    h("div", { class: "figure" }, h("dd", {}, value), h("dt", {}, label, note && h("small", {}, note)));
  return h(
    "div",
    {},
    h(
      "dl",
      { class: "figures" },
      figure(whole(rows.total), "rows", facts.holdout_rows ? `${whole(facts.holdout_rows)} held out` : ""),
      figure(whole(facts.columns.length), facts.columns.length === 1 ? "column" : "columns", facts.dims !== facts.columns.length ? `${facts.dims} dimensions kept` : ""),
      figure(String(experts.length), experts.length === 1 ? "expert" : "experts"),
      held === null
        ? figure(signed(trained), "nats per row gained over the Gaussian", "training rows")
        : figure(signed(held), "nats per row gained over the Gaussian", "held-out rows"),
    ),
    facts.notices.length ? h("ul", { class: "notices", "aria-label": "Notices" }, ...facts.notices.map((notice) => h("li", {}, notice))) : null,
    h(
      "div",
      { class: "columns" },
      h(
        "div",
        {},
        h("h3", {}, "How probable the rows are"),
        h("p", { class: "fine" }, "Mean ln p per row, in nats. Higher is better. Sphered rows are centred and have unit covariance."),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Likelihoods" }, likelihoods(facts.log_likelihood, facts.log_density)),
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
