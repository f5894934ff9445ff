// Horizontal bars from a common zero: a filter, a pattern, or the changes in an outlier's ln p.

import { s } from "./dom";
import { extent, linear, signed } from "./number";
import { fit, measure, Picture } from "./picture";

export interface Bar {
  label: string;
  value: number;
  /** Shown after the value in the tooltip. */
  note?: string;
}

export interface BarsOptions {
  title: string;
  of?: string;
  /** What the bars show. It sets their colours. */
  class: "weights-chart" | "moves";
  note?: string;
  bars: () => Bar[];
  decimals?: number;
  /** Amounts, without signs. */
  plain?: boolean;
  /** Called with a bar's index when it is pressed. */
  press?: (index: number) => void;
  pressed?: () => number;
}

const ROW = 22;

/** The bars with the largest absolute values, then one bar for the sum of all others. */
export function largest(bars: Bar[], most: number): Bar[] {
  const sorted = [...bars].sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  if (sorted.length <= most + 1) return sorted;
  const rest = sorted.slice(most);
  return [...sorted.slice(0, most), { label: `${rest.length} others`, value: rest.reduce((sum, bar) => sum + bar.value, 0), note: "sum" }];
}

export function barChart(options: BarsOptions): Picture {
  const decimals = options.decimals ?? 2;
  const written = (value: number): string => (options.plain ? value.toFixed(decimals) : signed(value, decimals));
  const draw = (picture: Picture): void => {
    const { svg, width } = picture;
    const bars = options.bars();
    const labels = Math.min(width * 0.45, 2 + Math.max(20, ...bars.map((bar) => measure(bar.label))));
    const numbers = 14 + Math.max(...bars.map((bar) => measure(written(bar.value))), 28);
    const [low, high] = extent(bars.map((bar) => bar.value), [0]);
    const x = linear([low, high === low ? low + 1 : high], [labels + 6, width - numbers]);
    svg.append(s("line", { x1: x(0), x2: x(0), y1: 2, y2: bars.length * ROW + 2, class: "zero" }));
    bars.forEach((bar, at) => {
      const y = at * ROW + 2;
      const group = s("g", { class: `bar ${bar.value < 0 ? "negative" : "positive"}` }, s("title", {}, `${bar.label}: ${written(bar.value)}${bar.note ? ` (${bar.note})` : ""}`));
      const end = Number.isFinite(bar.value) ? x(bar.value) : x(low);
      group.append(
        s("rect", { x: 0, y, width, height: ROW, class: "hit" }),
        s("text", { x: labels, y: y + 15, "text-anchor": "end" }, fit(bar.label, labels)),
        s("rect", { x: Math.min(x(0), end).toFixed(1), y: y + 4, width: Math.max(0.8, Math.abs(end - x(0))).toFixed(1), height: ROW - 8, rx: 1.5 }),
        s("text", { x: width - numbers + 10, y: y + 15, class: "value" }, written(bar.value)),
      );
      if (options.press) {
        const press = (): void => options.press!(at);
        group.classList.add("pressable");
        group.setAttribute("role", "button");
        group.setAttribute("tabindex", "0");
        group.setAttribute("aria-pressed", String(options.pressed?.() === at));
        group.addEventListener("click", press);
        group.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          press();
          (svg.querySelectorAll<SVGGElement>(".bar")[at] as SVGGElement | undefined)?.focus();
        });
      }
      svg.append(group);
    });
    picture.describe(bars.map((bar) => `${bar.label} ${written(bar.value)}`).join(", "));
  };
  const picture = new Picture({
    title: options.title,
    of: options.of,
    note: options.note,
    class: `barchart ${options.class}`,
    height: () => options.bars().length * ROW + 6,
    draw,
  });
  if (options.press) picture.svg.setAttribute("role", "group");
  return picture;
}
