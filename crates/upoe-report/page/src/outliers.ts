// The odd rows, the least usual ones, and what makes each of them so.

import { barChart, largest } from "./bars";
import { conditional } from "./conditional";
import { type Data, floats } from "./data";
import { h } from "./dom";
import { binned, histogram } from "./histogram";
import { minus, probability, reach, show, signed, whole } from "./number";
import { pixelPicture } from "./pixels";
import type { Judgement, Outlier, Real } from "./schema";
import type { Store } from "./store";
import { term } from "./term";

export function outliers(data: Data, store: Store): HTMLElement {
  const values = data.logDensity.values();
  const drawn = data.logDensity.samples?.() ?? new Float32Array();
  const ranges = [reach(values), ...(drawn.length ? [reach(drawn)] : [])];
  const [low, high] = [Math.min(...ranges.map(([a]) => a)), Math.max(...ranges.map(([, b]) => b))];
  const { words, note, rows } = data.page.outliers;
  const judged = rows.some(({ judgement }) => judgement);
  const impossible = judged ? rows.filter(({ log_density }) => log_density === -Infinity) : [];
  const possible = rows.filter((row) => !impossible.includes(row));
  const odd = possible.filter(({ judgement }) => judgement?.odd);
  const others = possible.filter(({ judgement }) => !judgement?.odd);
  const chance = Number(words.match(/about ([\d,.]+)$/)?.[1].replaceAll(",", "") ?? NaN);
  const usual = Number(words.match(/^[\d,]+/)?.[0].replaceAll(",", "") ?? NaN) <= chance;
  const list = (some: Outlier[]): HTMLElement => h("ol", { class: "outliers" }, ...some.map((outlier) => card(data, store, outlier)));
  return h(
    "div",
    {},
    h("p", { class: "verdict" }, words.replace(/([^.])$/, "$1.")),
    note ? h("p", { class: "fine" }, note) : null,
    impossible.length ? h("div", {}, h("h3", { class: "others" }, "Impossible under the model"), list(impossible)) : null,
    odd.length && usual ? h("h3", { class: "others" }, "The least usual rows, no more than chance gives") : null,
    odd.length ? list(odd) : null,
    others.length
      ? h(
          "div",
          {},
          judged ? h("h3", { class: "others" }, odd.length ? "Not odd: the next least usual rows" : "Not odd: the least usual rows, no more than chance gives") : null,
          list(others),
        )
      : null,
    conditional(data, store, rows),
    h(
      "details",
      { class: "more-about" },
      h("summary", {}, "How probable all rows are"),
      h("p", { class: "fine" }, "By the model's density. Heavy tails explain odd rows away, so the detector decides which rows are odd, not ln p."),
      histogram(
        {
          title: "ln p of every row",
          note: rows.length ? "triangles mark the rows listed above" : undefined,
          quantity: data.logDensity,
          bins: binned(values, Math.min(60, Math.max(12, Math.round(Math.sqrt(values.length) * 2))), low, high),
          axis: "ln p, nats",
          marks: rows.flatMap((outlier) => (outlier.log_density === null ? [] : [outlier.log_density])),
          height: 200,
        },
        store,
      ).root,
    ),
  );
}

/** How rare a row is, compared with `drawn` rows drawn from the model. */
function rarity(tail: Real, drawn: number): string {
  if (tail === null) return "";
  if (tail * (drawn + 1) < 1.5) return `all of ${whole(drawn)} rows drawn from the model are more probable`;
  if (tail >= 0.1) return `${show(100 * tail, 2)} % of rows drawn from the model are no more probable`;
  return `about 1 in ${whole(Number((1 / tail).toPrecision(2)))} rows drawn from the model is no more probable`;
}

/** What the detector says of a row. */
function verdict(judgement: Judgement): HTMLElement {
  const { reasons, by_chance, p_value, oddness, q_value } = judgement;
  return h(
    "div",
    { class: "why" },
    h("ul", { class: "odd" }, ...reasons.map((reason) => h("li", {}, minus(reason)))),
    h("p", {}, `${by_chance[0].toUpperCase()}${by_chance.slice(1)}.`),
    h("p", { class: "fine" }, `p ${/^</.test(probability(p_value)) ? "" : "= "}${probability(p_value)}, `, term("false discovery rate"), ` ${probability(q_value)}, `, term("oddness"), ` ${show(oddness, 3)}`),
  );
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
    ...outlier.experts.map((value, k) => ({ label: data.page.outliers.parts[k] ?? `expert ${k + 1}`, value: value ?? NaN, at: k })),
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
      h("p", { class: "chips" }, ...data.texts.slice(0, 4).flatMap((text) => [h("span", { class: "chip" }, `${text.label}: ${text.levels[text.codes()[row]] ?? "–"}`), " "])),
    ),
    outlier.judgement ? verdict(outlier.judgement) : null,
    outlier.note === null ? null : h("p", {}, outlier.note),
    outlier.far === null ? null : h("p", { class: "fine" }, `It lies ${outlier.far}.`),
    h(
      "details",
      { open: outlier.judgement === null },
      h("summary", {}, "How probable it is, and what decides that"),
      h("p", {}, h("strong", {}, `ln p = ${show(outlier.log_density, 4)}`), outlier.tail === null || outlier.log_density === -Infinity ? "" : `: ${rarity(outlier.tail, data.page.samples?.drawn ?? 0)}`),
      h("p", { class: "fine" }, outlier.note !== null ? "The bars explain the part that is possible." : `${show(outlier.baseline, 4)} ${data.page.layers ? "is the mean of rows drawn from the model" : "at the data's mean"}; change ${signed(sum(parts), 2)}. The bars add up to it exactly.`),
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
    ),
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

const sum = (parts: { value: number }[]): number => parts.reduce((total, { value }) => total + value, 0);
