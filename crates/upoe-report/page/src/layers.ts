// The layers of a stack: what each adds, the radial experts' pictures, and the members of a pool.

import { floats, quantity } from "./data";
import { h } from "./dom";
import { histogram } from "./histogram";
import { exact, probability, signed } from "./number";
import { barChart } from "./bars";
import type { Layers } from "./schema";
import type { Store } from "./store";

export function layers(store: Store, all: Layers): HTMLElement {
  const held = all.layers.some(({ holdout }) => holdout !== null);
  const name = (at: number): string => `layer ${at + 1}`;
  const gains = barChart({
    title: "Gain of each layer",
    note: held ? "nats per training row; held-out rows in the table" : "nats per training row",
    class: "weights-chart",
    decimals: 3,
    bars: () => all.layers.map((layer, at) => ({ label: `${name(at)}, ${layer.kind}`, value: layer.gain ?? NaN, note: layer.words })),
  });
  const row = (layer: Layers["layers"][number], at: number): HTMLElement =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name(at)),
      h("td", {}, exact(layer.gain)),
      held ? h("td", {}, layer.holdout === null ? "–" : signed(layer.holdout, 4)) : null,
      h("td", {}, layer.p_value === null ? "–" : probability(layer.p_value)),
      h("td", { class: "words" }, layer.words.replace(/ %/g, "\u00a0%")),
    );
  const head = ["layer", "gain", ...(held ? ["held out"] : []), "p-value", "what it found"];
  const radial = all.layers.flatMap((layer, at) => (layer.radial ? [{ at, ...layer.radial }] : []));
  return h(
    "div",
    {},
    all.layers.length ? gains.root : h("p", {}, "No layers: nothing was found beyond a Gaussian."),
    all.layers.length
      ? h(
          "div",
          { class: "scroll", tabindex: 0, role: "region", "aria-label": "What each layer adds" },
          h("table", { class: "layers" }, h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, ...all.layers.map(row))),
        )
      : null,
    all.column_experts.length ? h("p", { class: "fine" }, `Before the first layer these columns have experts: ${all.column_experts.join(", ")}.`) : null,
    radial.length
      ? h(
          "div",
          { class: "experts" },
          ...radial.map(({ at, dims, histogram: bins, curve, values }) =>
            h(
              "article",
              { class: "expert", id: `radial-${at + 1}`, "aria-label": `Radial expert of layer ${at + 1}` },
              h("header", {}, h("h3", {}, `Radial expert of layer ${at + 1}`), h("p", { class: "words" }, `How far out rows lie in ${dims} dimensions, in every direction at once.`)),
              h(
                "div",
                { class: "pictures" },
                histogram(
                  {
                    title: "Distance from the centre",
                    of: `in layer ${at + 1}`,
                    quantity: quantity(`r${at}`, `distance in layer ${at + 1}`, () => floats(values)),
                    bins,
                    curve,
                    axis: "distance in doublings, middle row 0",
                  },
                  store,
                ).root,
              ),
            ),
          ),
        )
      : null,
    all.members.length
      ? h(
          "div",
          {},
          h("h3", {}, "The pool"),
          h("p", { class: "fine" }, "The density is a pool of these, each with a share that held-out rows decided."),
          h(
            "table",
            { class: "members" },
            h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "share"), h("th", { scope: "col" }, "member"))),
            h("tbody", {}, ...all.members.map(({ share, words }) => h("tr", {}, h("th", { scope: "row" }, `${(100 * share).toFixed(0)}\u00a0%`), h("td", { class: "words" }, words)))),
          ),
        )
      : null,
  );
}
