// Each expert: what it found, its histogram, its filter and pattern, and how well it fits.

import { barChart, largest } from "./bars";
import { type Data, floats } from "./data";
import { h, segments } from "./dom";
import { histogram } from "./histogram";
import { exact, probability, show } from "./number";
import { pixelPicture } from "./pixels";
import { quantilePlot } from "./qq";
import type { Expert } from "./schema";
import type { Store } from "./store";

/** Experts drawn at first. A button shows the others. */
const FIRST = 12;

export function experts(data: Data, store: Store): HTMLElement {
  const all = data.page.experts;
  const list = h("div", { class: "experts" });
  const add = (from: number, to: number): void => {
    for (let k = from; k < to; k++) list.append(card(data, store, k));
  };
  if (all.length <= FIRST + 3) add(0, all.length);
  else {
    add(0, FIRST);
    const more = h("button", { type: "button", class: "more", click: () => {
      more.remove();
      add(FIRST, all.length);
      list.querySelector<HTMLElement>(`#expert-${FIRST + 1}`)?.focus();
    } }, `Show the other ${all.length - FIRST} experts`);
    return h("div", {}, list, more);
  }
  return list;
}

function card(data: Data, store: Store, k: number): HTMLElement {
  const expert = data.page.experts[k];
  const quantity = data.projections[k];
  const facts: [string, string][] = [
    ["gain", `${exact(expert.gain)} nats per row`],
    ...(expert.p_value === null ? [] : [["p-value", probability(expert.p_value)] as [string, string]]),
    ...expert.parameters.filter(({ group }) => group === null).map(({ name, value, note }) => [name, `${parameter({ name, value })}${note ? ` (${note})` : ""}`] as [string, string]),
  ];
  const definitions = h("dl", { class: "facts" });
  for (const [name, value] of facts) definitions.append(h("div", {}, h("dt", {}, name), h("dd", {}, value)));
  return h(
    "article",
    { class: "expert", id: `expert-${k + 1}`, tabindex: -1, "aria-label": `Expert ${k + 1}` },
    h(
      "header",
      {},
      h("h3", {}, `Expert ${k + 1}`, h("span", { class: "family" }, expert.family)),
      h("p", { class: "words" }, expert.words.replace(/ %/g, "\u00a0%")),
      definitions,
      groups(expert.parameters, `Groups of expert ${k + 1}`),
    ),
    h(
      "div",
      { class: "pictures" },
      histogram(
        { title: "Projection", of: `of expert ${k + 1}`, quantity, bins: expert.histogram, curve: expert.curve, axis: `${quantity.label}, standard deviations` },
        store,
      ).root,
      weights(data, store, k),
      quantilePlot(expert, `of expert ${k + 1}`).root,
    ),
  );
}

/** The value of a parameter. With so many degrees of freedom a Student-t is a Gaussian. */
const parameter = ({ name, value }: Pick<Expert["parameters"][number], "name" | "value">): string =>
  name === "degrees of freedom" && value !== null && value > 1000 && value < Infinity ? ">\u00a01,000" : exact(value);

/** The parameters of a mixture: one column per group. */
function groups(parameters: Expert["parameters"], label: string): HTMLElement | null {
  const own = parameters.filter(({ group }) => group !== null);
  if (!own.length) return null;
  const count = 1 + Math.max(...own.map(({ group }) => group!));
  const names = [...new Set(own.map(({ name }) => name))];
  const cell = (name: string, group: number): HTMLElement => {
    const found = own.find((parameter) => parameter.name === name && parameter.group === group);
    return h("td", {}, found ? parameter(found) : "");
  };
  const note = (name: string): string => {
    const said = new Set(own.flatMap((parameter) => (parameter.name === name && parameter.note ? [parameter.note] : [])));
    return said.size ? `, ${[...said].join(", ")}` : "";
  };
  const indices = Array.from({ length: count }, (_, group) => group);
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    h(
      "table",
      { class: "groups" },
      h("thead", {}, h("tr", {}, h("td", {}, "group"), ...indices.map((group) => h("th", { scope: "col" }, String(group + 1))))),
      h("tbody", {}, ...names.map((name) => h("tr", {}, h("th", { scope: "row" }, name, h("small", {}, note(name))), ...indices.map((group) => cell(name, group))))),
    ),
  );
}

/** The pattern and the filter, as bars or as images. */
function weights(data: Data, store: Store, k: number): HTMLElement {
  const { experts: all, summary, image } = data.page;
  const expert = all[k];
  const filter = floats(expert.filter);
  const pattern = floats(expert.pattern);
  const correlation = floats(expert.correlation);
  type View = "correlation" | "pattern" | "filter";
  let view: View = image ? "pattern" : "correlation";
  let most = 10;
  const spread = summary.columns.map((column) => column.standard_deviation ?? 1);
  const bars = () => {
    const value = (c: number): number => {
      if (view === "correlation") return correlation[c];
      return view === "filter" ? filter[c] * spread[c] : spread[c] ? pattern[c] / spread[c] : 0;
    };
    const note = (c: number): string | undefined => (view === "pattern" ? `${show(pattern[c], 3)} in its own units` : undefined);
    const values = summary.columns.map((column, c) => ({ label: column.name, value: value(c), note: note(c) }));
    const sorted = values.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    return most < sorted.length ? largest(sorted, most).slice(0, most) : sorted;
  };
  const of = `of expert ${k + 1}`;
  const picture = image
    ? pixelPicture("Pixels", of, () => (view === "filter" ? filter : pattern), image, true, store)
    : barChart({ title: "Columns", of, class: "weights-chart", bars });
  const legend = h("p", { class: "fine" });
  const explain = (): void => {
    const z = data.projections[k].label;
    if (image)
      legend.textContent =
        view === "filter"
          ? `How each pixel changes ${z}: orange raises it, blue lowers it.`
          : `How each pixel changes when ${z} increases: orange pixels rise, blue pixels fall.`;
    else
      legend.textContent =
        view === "filter"
          ? `How much ${z} changes when the column increases by one standard deviation.`
          : view === "pattern"
            ? `How many standard deviations the column changes by when ${z} increases by one.`
            : `How closely each column moves with ${z}: the correlation, from −1 to 1.`;
  };
  explain();
  const rest = summary.columns.length - most;
  const more =
    !image && rest > 0
      ? h("button", { type: "button", class: "quiet", click: () => {
          most = summary.columns.length;
          more?.remove();
          picture.redraw();
        } }, `Show the other ${rest} columns`)
      : null;
  return h(
    "div",
    { class: "weights" },
    picture.root,
    more,
    segments(
      `Columns of expert ${k + 1}, shown as`,
      [
        ...(image ? [] : [{ value: "correlation", label: "Correlation", hint: "how closely each column moves with the projection" }]),
        { value: "pattern", label: "Pattern", hint: "how each column changes with the projection" },
        { value: "filter", label: "Filter", hint: "how each column changes the projection" },
      ],
      view,
      (value) => {
        view = value as View;
        explain();
        picture.redraw();
      },
    ),
    legend,
  );
}
