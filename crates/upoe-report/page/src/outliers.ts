// The least probable rows, and what makes each of them improbable.

import { barChart, largest } from "./bars";
import { type Data, floats } from "./data";
import { h } from "./dom";
import { binned, histogram } from "./histogram";
import { reach, show, signed, whole } from "./number";
import { pixelPicture } from "./pixels";
import type { Outlier, Real } from "./schema";
import type { Store } from "./store";

export function outliers(data: Data, store: Store): HTMLElement {
  const values = data.logDensity.values();
  const drawn = data.logDensity.samples?.() ?? new Float32Array();
  const ranges = [reach(values), ...(drawn.length ? [reach(drawn)] : [])];
  const [low, high] = [Math.min(...ranges.map(([a]) => a)), Math.max(...ranges.map(([, b]) => b))];
  const list = data.page.outliers;
  return h(
    "div",
    {},
    histogram(
      {
        title: "ln p of every row",
        note: list.length ? "triangles mark the rows listed below" : undefined,
        quantity: data.logDensity,
        bins: binned(values, Math.min(60, Math.max(12, Math.round(Math.sqrt(values.length) * 2))), low, high),
        axis: "ln p, nats",
        marks: list.flatMap((outlier) => (outlier.log_density === null ? [] : [outlier.log_density])),
        height: 200,
      },
      store,
    ).root,
    list.length
      ? h("ol", { class: "outliers" }, ...list.map((outlier) => card(data, store, outlier)))
      : h("p", {}, "No rows are listed."),
  );
}

/** How rare a row is, compared with `drawn` rows drawn from the model. */
function rarity(tail: Real, drawn: number): string {
  if (tail === null) return "";
  if (tail * (drawn + 1) < 1.5) return `all of ${whole(drawn)} rows drawn from the model are more probable`;
  if (tail >= 0.1) return `${show(100 * tail, 2)} % of rows drawn from the model are no more probable`;
  return `about 1 in ${whole(Number((1 / tail).toPrecision(2)))} rows drawn from the model is no more probable`;
}

function card(data: Data, store: Store, outlier: Outlier): HTMLElement {
  const { summary, image } = data.page;
  const row = outlier.position;
  const number = data.number[row];
  const cells = floats(outlier.values);
  const totals = floats(outlier.columns);
  const split = outlier.split.map(floats);
  let part = -1;
  const parts = [
    ...outlier.experts.map((value, k) => ({ label: data.page.parts[k] ?? `expert ${k + 1}`, value: value ?? NaN, at: k })),
    { label: "Gaussian rest", value: outlier.rest ?? NaN, at: outlier.experts.length },
  ];
  const shown = parts.length > 9 ? [...parts].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 8) : parts;
  const byColumn = image
    ? pixelPicture("By pixel", `of row ${number}`, () => (part < 0 ? totals : split[shown[part].at]), image, true, store)
    : barChart({
    title: "By column",
    of: `of row ${number}`,
    class: "moves",
    bars: () => {
      const source = part < 0 ? totals : split[shown[part].at];
      return largest(
        summary.columns.map((column, c) => ({ label: column.name, value: source[c] ?? 0, note: `value ${show(cells[c])}, mean ${show(column.mean)}` })),
        8,
      );
    },
  });
  const focus = h("p", { class: "fine" });
  const explain = (): void => {
    focus.hidden = part < 0;
    focus.textContent = part < 0 ? "" : `By column: only ${shown[part].label}. Press it again to show the total.`;
  };
  explain();
  const byExpert = barChart({
    title: "By expert",
    of: `of row ${number}`,
    class: "moves",
    bars: () => shown,
    press: split.length
      ? (index) => {
          part = part === index ? -1 : index;
          explain();
          byExpert.redraw();
          byColumn.redraw();
        }
      : undefined,
    pressed: () => part,
  });
  const button = h("button", { type: "button", class: "quiet", click: () => store.select((i) => i === row, store.mask[row] ? "remove" : "add") }, "Select");
  const item = h(
    "li",
    { class: "outlier", "data-row": number },
    h(
      "header",
      {},
      h("h3", {}, `Row ${number}`),
      button,
      h("p", { class: "words" }, ...data.texts.slice(0, 3).flatMap((text) => [h("span", { class: "chip" }, text.levels[text.codes()[row]] ?? "–"), " "])),
      h("p", {}, h("strong", {}, `ln p = ${show(outlier.log_density, 4)}`), outlier.tail === null || outlier.log_density === -Infinity ? "" : `: ${rarity(outlier.tail, data.page.samples?.drawn ?? 0)}; ${outlier.by_chance}`),
      h("p", { class: "fine" }, outlier.note ?? `${show(outlier.baseline, 4)} ${data.page.layers ? "is the mean of rows drawn from the model" : "at the data's mean"}; change ${signed(sum(parts), 2)}`),
      outlier.far === null ? null : h("p", { class: "fine" }, `It lies ${outlier.far}.`),
    ),
    odd(outlier),
    splits(outlier.odd.length > 0, [
    outlier.experts.length ? byExpert.root : null,
    outlier.experts.length && split.length ? focus : null,
    image
      ? h(
          "div",
          { class: "pair" },
          pixelPicture("Image", `of row ${number}`, () => cells, image, false, store).root,
          byColumn.root,
          h("p", { class: "fine" }, "By pixel: orange raises ln p, blue lowers it."),
        )
      : byColumn.root,
    ]),
  );
  store.on(["selection"], () => {
    const on = store.mask[row] === 1;
    item.classList.toggle("selected", on);
    button.textContent = on ? "Deselect" : "Select";
    button.setAttribute("aria-pressed", String(on));
  });
  item.addEventListener("pointerenter", () => store.setHover(row));
  item.addEventListener("pointerleave", () => store.setHover(-1));
  return item;
}

/** The values most to blame, beside what is expected given the row's others. */
function odd(outlier: Outlier): HTMLElement | null {
  if (!outlier.odd.length) return null;
  const chance = (p: number): string => (p < 0.001 ? "less than 1 in 1,000" : `${show(100 * p, 2)} %`);
  return h(
    "ul",
    { class: "odd" },
    ...outlier.odd.map(({ words, surprise }) =>
      h("li", {}, words, h("span", { class: "fine" }, ` as far out: ${chance(surprise)}`)),
    ),
  );
}

/** How ln p splits over experts and columns; folded where the values say it already. */
function splits(folded: boolean, content: (HTMLElement | null)[]): HTMLElement {
  if (!folded) return h("div", {}, ...content);
  return h("details", {}, h("summary", {}, "How ln p splits over experts and columns"), ...content);
}

const sum = (parts: { value: number }[]): number => parts.reduce((total, { value }) => total + value, 0);
