// A picture: a title, a drawing that follows the page's width, and its save buttons.

import { fresh, h, s } from "./dom";
import { type Scale, tickCount, ticks } from "./number";
import { savePng, saveSvg } from "./save";

export interface Options {
  title: string;
  /** Completes the title for screen readers and file names: "of expert 1". */
  of?: string;
  /** Shown after the title. */
  note?: string;
  /** Height for a width, in CSS pixels. */
  height: (width: number) => number;
  draw: (picture: Picture) => void;
  /** Holds points, drawn below the lines and labels. */
  canvas?: HTMLCanvasElement;
  /** Keyboard instructions. They make the drawing focusable. */
  keys?: string;
  class?: string;
}

/** Every picture of the page. */
const all: Picture[] = [];

export function redrawAll(): void {
  for (const picture of all) if (picture.root.isConnected) picture.redraw();
}

export class Picture {
  readonly root: HTMLElement;
  readonly stage: HTMLElement;
  readonly svg: SVGSVGElement;
  readonly title: string;
  width = 0;
  height = 0;
  private description: SVGDescElement;
  private options: Options;

  constructor(options: Options) {
    this.options = options;
    this.title = options.of ? `${options.title} ${options.of}` : options.title;
    const describedBy = fresh("description");
    const labelledBy = fresh("title");
    this.description = s("desc", { id: describedBy });
    this.svg = s("svg", { role: "img", "aria-labelledby": labelledBy, "aria-describedby": describedBy });
    this.stage = h("div", { class: "stage" }, options.canvas, this.svg);
    if (options.keys) {
      this.stage.tabIndex = 0;
      this.stage.setAttribute("role", "application");
      this.stage.setAttribute("aria-label", `${this.title}. ${options.keys}`);
    }
    const canvas = options.canvas ?? null;
    this.root = h(
      "figure",
      { class: `picture ${options.class ?? ""}` },
      h(
        "figcaption",
        {},
        h("span", { class: "title", id: labelledBy }, options.title, options.of && h("span", { class: "hidden" }, ` ${options.of}`)),
        options.note && h("span", { class: "note" }, options.note),
        h(
          "span",
          { class: "save" },
          h("button", { type: "button", "aria-label": `Save “${this.title}” as SVG`, click: () => saveSvg(this.svg, canvas, this.title) }, "SVG"),
          h("button", { type: "button", "aria-label": `Save “${this.title}” as PNG`, click: () => void savePng(this.svg, canvas, this.title) }, "PNG"),
        ),
      ),
      this.stage,
    );
    all.push(this);
    new ResizeObserver(() => {
      if (Math.round(this.stage.clientWidth) !== this.width) this.redraw();
    }).observe(this.stage);
  }

  /** Describes the picture for screen readers. */
  describe(text: string): void {
    this.description.textContent = text;
  }

  redraw(): void {
    this.width = Math.round(this.stage.clientWidth);
    if (!this.width) return;
    this.height = Math.round(this.options.height(this.width));
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("height", String(this.height));
    this.svg.replaceChildren(this.description);
    this.options.draw(this);
  }
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Publishes how pixels and values correspond, for tests. */
export function publish(svg: SVGSVGElement, box: Box, x: Scale, y: Scale): void {
  svg.dataset.box = [box.left, box.right, box.top, box.bottom].join(" ");
  svg.dataset.x = x.domain.join(" ");
  svg.dataset.y = y.domain.join(" ");
}

/** A horizontal axis below the box. */
export function axisX(svg: SVGSVGElement, box: Box, x: Scale, label: string): void {
  const count = tickCount(box.right - box.left, 80);
  const width = svg.viewBox.baseVal.width;
  const group = s("g", { class: "axis" });
  group.append(s("line", { x1: box.left, x2: box.right, y1: box.bottom + 0.5, y2: box.bottom + 0.5, class: "rule" }));
  for (const tick of ticks(x.domain, count)) {
    const at = Math.round(x(tick.value)) + 0.5;
    // A label at the picture's edge moves inwards so that it is not clipped.
    const half = 0.5 * measure(tick.label) + 1;
    const label = Math.min(width - half, Math.max(half, at));
    group.append(s("line", { x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4, class: "rule" }));
    group.append(s("text", { x: label, y: box.bottom + 16, "text-anchor": "middle" }, tick.label));
  }
  if (label) group.append(s("text", { x: box.right, y: box.bottom + 32, "text-anchor": "end", class: "label" }, label));
  svg.append(group);
}

/** A vertical axis left of the box, its label above it. */
export function axisY(svg: SVGSVGElement, box: Box, y: Scale, label: string, grid = true): void {
  const count = tickCount(box.bottom - box.top, 50);
  const group = s("g", { class: "axis" });
  for (const tick of ticks(y.domain, count)) {
    const at = Math.round(y(tick.value)) + 0.5;
    if (grid) group.append(s("line", { x1: box.left, x2: box.right, y1: at, y2: at, class: "grid" }));
    group.append(s("text", { x: box.left - 6, y: at + 4, "text-anchor": "end" }, tick.label));
  }
  if (label) group.append(s("text", { x: Math.max(0, box.left - 38), y: box.top - 10, class: "label" }, label));
  svg.append(group);
}

/** A line through points, with gaps where they are not finite. */
export function line(xs: ArrayLike<number>, ys: ArrayLike<number>, x: Scale, y: Scale): string {
  let path = "";
  let pen = "M";
  for (let i = 0; i < xs.length; i++) {
    const at = [x(xs[i]), y(ys[i])];
    if (!at.every(Number.isFinite)) pen = "M";
    else {
      path += `${pen}${at[0].toFixed(1)},${at[1].toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}

/** The text of pictures, to measure it with. */
let pen: CanvasRenderingContext2D | null = null;

/** The width of a picture's text, in pixels. */
export function measure(text: string): number {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d")!;
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  return pen.measureText(text).width;
}

/** Shortens a label to at most `width` pixels of a picture's text. */
export function fit(text: string, width: number): string {
  if (measure(text) <= width) return text;
  const characters = [...text];
  while (characters.length > 2 && measure(`${characters.join("")}…`) > width) characters.pop();
  return `${characters.join("")}…`;
}
