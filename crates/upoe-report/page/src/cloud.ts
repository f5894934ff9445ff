// A cloud of rows on a canvas: colours, selection, the row under the pointer,
// brushing and the keyboard. The scatter plot and the tour place its points.

import { type Colouring, colouring, themed } from "./colour";
import type { Data } from "./data";
import { h, s } from "./dom";
import { drawLegend } from "./legend";
import { plural, whole } from "./number";
import { type Box, Picture } from "./picture";
import { type Layer, Points } from "./points";
import { type Store, combineOf } from "./store";
import type { Tip } from "./tip";

/** With more rows than this, every point is a plain disc. */
const PLAIN = 3000;

export type Tool = "rectangle" | "lasso" | "turn";

export interface Placement {
  /** Fills the pixel positions of rows (and of samples, where there are some). */
  place: (box: Box, x: Float32Array, y: Float32Array, samples: boolean) => boolean;
  /** Draws axes. */
  overlay: (svg: SVGSVGElement, box: Box) => void;
  /** Hair lines below the points. */
  grid?: () => { x: number[]; y: number[] };
  describe: () => string;
  /** Drag with the turn tool, in pixels. */
  turn?: (dx: number, dy: number) => void;
  key?: (event: KeyboardEvent) => boolean;
}

interface Settings {
  title: string;
  keys: string;
  height: (width: number) => number;
  margin: { left: number; right: number; top: number; bottom: number };
  tool: Tool;
}

export class Cloud {
  readonly picture: Picture;
  tool: Tool;
  readonly x: Float32Array;
  readonly y: Float32Array;
  private sx: Float32Array;
  private sy: Float32Array;
  private points: Points;
  private brush: SVGPathElement;
  private ring: SVGCircleElement;
  private colours: Colouring;
  private box: Box = { left: 0, right: 0, top: 0, bottom: 0 };
  private data: Data;
  private store: Store;
  private tip: Tip;
  private placement: Placement;
  private margin: Settings["margin"];

  constructor(data: Data, store: Store, tip: Tip, settings: Settings, placement: Placement) {
    this.data = data;
    this.store = store;
    this.tip = tip;
    this.placement = placement;
    this.margin = settings.margin;
    this.tool = settings.tool;
    this.x = new Float32Array(data.count);
    this.y = new Float32Array(data.count);
    const drawn = data.logDensity.samples?.().length ?? 0;
    this.sx = new Float32Array(drawn);
    this.sy = new Float32Array(drawn);
    this.colours = colouring(data, store.colour);
    this.brush = s("path", { class: "brush" });
    this.ring = s("circle", { class: "hover", r: 8 });
    const canvas = h("canvas", { "aria-hidden": "true" });
    this.points = new Points(canvas);
    this.picture = new Picture({ ...settings, canvas, class: "cloud", draw: () => this.draw() });
    this.listen();
    store.on(["selection", "show"], () => this.picture.redraw());
    store.on(["hover"], () => this.mark());
    store.on(["colour", "theme"], () => {
      this.colours = colouring(data, store.colour);
      this.picture.redraw();
    });
  }

  private draw(): void {
    const { svg, width, height } = this.picture;
    const legend = drawLegend(this.colours, this.store.show, this.data.count > PLAIN, width, this.margin.left);
    const { left, right, top, bottom } = this.margin;
    this.box = { left, right: width - right, top: top + legend.height, bottom: height - bottom };
    this.placement.overlay(svg, this.box);
    svg.append(legend.group, this.brush, this.ring);
    this.paint();
  }

  /** Draws the points alone: what a frame of the tour does. */
  paint(): void {
    const { width, height } = this.picture;
    if (!width) return;
    const { store, colours } = this;
    const layers: Layer[] = [];
    const n = this.data.count;
    const radius = n > 20_000 ? 1.3 : n > 3000 ? 1.8 : n > 600 ? 2.6 : 3.6;
    const alpha = n > 20_000 ? 0.45 : n > 3000 ? 0.6 : 0.82;
    const placed = this.placement.place(this.box, this.x, this.y, false);
    if (store.show !== "samples" && placed) {
      const shapes = n > PLAIN ? null : colours.shapes;
      if (!store.selected) {
        layers.push({ x: this.x, y: this.y, index: colours.index, palette: colours.palette, shapes, radius, alpha });
      } else {
        const chosen = new Uint32Array(store.selected);
        const others = new Uint32Array(n - store.selected);
        for (let i = 0, a = 0, b = 0; i < n; i++) {
          if (store.mask[i]) chosen[a++] = i;
          else others[b++] = i;
        }
        layers.push({ x: this.x, y: this.y, rows: others, palette: [themed("--faded")], radius, alpha: alpha * 0.7 });
        layers.push({
          x: this.x, y: this.y, rows: chosen, index: colours.index, palette: colours.palette, shapes,
          radius: radius * 1.15, alpha: Math.min(1, alpha + 0.2),
        });
      }
    }
    if (store.show !== "data" && this.placement.place(this.box, this.sx, this.sy, true)) {
      layers.push({
        x: this.sx, y: this.sy, palette: [themed("--samples")], shapes: ["ring"], radius: Math.max(2, radius * 1.1), alpha: 0.7,
      });
    }
    const grid = this.placement.grid?.();
    this.points.draw(width, height, layers, themed("--surface"), grid ? { box: this.box, ...grid } : null, themed("--grid"));
    this.picture.describe(`${this.placement.describe()} ${this.state()}`);
    this.picture.stage.dataset.selected = String(store.selected);
    this.picture.stage.dataset.shown = store.show;
    this.mark();
  }

  private state(): string {
    const { store, data } = this;
    const rows = `${whole(store.selected)} of ${plural(data.count, "row")} selected.`;
    if (store.show === "data") return rows;
    return `${rows} ${store.show === "both" ? "Also shown" : "Shown instead"}: ${plural(this.sx.length, "row")} drawn from the model.`;
  }

  private mark(): void {
    const row = this.store.hover;
    const there = row >= 0 && this.store.show !== "samples" && Number.isFinite(this.x[row] + this.y[row]);
    this.ring.setAttribute("visibility", there ? "visible" : "hidden");
    if (!there) return;
    this.ring.setAttribute("cx", this.x[row].toFixed(1));
    this.ring.setAttribute("cy", this.y[row].toFixed(1));
  }

  /** The row nearest to a pixel, within `reach`. */
  private nearest(px: number, py: number, reach: number): number {
    let best = -1;
    let least = reach * reach;
    for (let i = 0; i < this.x.length; i++) {
      const dx = this.x[i] - px;
      const dy = this.y[i] - py;
      const distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    return best;
  }

  private listen(): void {
    const { stage } = this.picture;
    let trail: [number, number][] = [];
    const at = (event: PointerEvent): [number, number] => {
      const box = stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      stage.setPointerCapture(event.pointerId);
      stage.focus({ preventScroll: true });
      trail = [at(event)];
      event.preventDefault();
    });
    stage.addEventListener("pointermove", (event) => {
      const here = at(event);
      if (!trail.length) {
        const row = this.store.show === "samples" ? -1 : this.nearest(...here, 14);
        this.store.setHover(row);
        this.tip.show(row, event.clientX, event.clientY);
        return;
      }
      this.tip.hide();
      if (this.tool === "turn" && !event.shiftKey) {
        const last = trail[trail.length - 1];
        this.placement.turn?.(here[0] - last[0], here[1] - last[1]);
        trail.push(here);
      } else {
        trail.push(here);
        this.brush.setAttribute("d", this.outline(trail));
      }
    });
    const end = (event: PointerEvent): void => {
      if (!trail.length) return;
      const [first] = trail;
      const moved = trail.some(([px, py]) => Math.hypot(px - first[0], py - first[1]) > 4);
      const turned = this.tool === "turn" && !event.shiftKey;
      if (event.type === "pointerup" && !moved) {
        const row = this.nearest(...first, 14);
        if (row >= 0) this.store.select((i) => i === row, combineOf(event));
        else this.store.clear();
      } else if (event.type === "pointerup" && !turned) {
        this.select(trail, event);
      }
      trail = [];
      this.brush.setAttribute("d", "");
    };
    stage.addEventListener("pointerup", end);
    stage.addEventListener("pointercancel", end);
    stage.addEventListener("pointerleave", () => {
      this.tip.hide();
      this.store.setHover(-1);
    });
    stage.addEventListener("keydown", (event) => {
      if (this.placement.key?.(event) || this.walk(event)) event.preventDefault();
    });
    stage.addEventListener("blur", () => this.tip.hide());
  }

  /** The brush's corners: the trail itself, or the rectangle from its first to its last point. */
  private corners(trail: [number, number][]): [number, number][] {
    if (this.tool === "lasso") return trail;
    const [a, b] = [trail[0], trail[trail.length - 1]];
    return [a, [b[0], a[1]], b, [a[0], b[1]]];
  }

  private outline(trail: [number, number][]): string {
    return `M${this.corners(trail).map((corner) => corner.map((v) => v.toFixed(1)).join(",")).join("L")}Z`;
  }

  private select(trail: [number, number][], event: PointerEvent): void {
    const corners = this.corners(trail);
    const { x, y } = this;
    this.store.select((row) => inside(corners, x[row], y[row]), combineOf(event));
  }

  /** Arrow keys walk from row to row, Enter selects, Escape clears. */
  private walk(event: KeyboardEvent): boolean {
    const { store } = this;
    if (event.key === "Escape") {
      store.clear();
      return true;
    }
    if (event.key === "Enter" || event.key === " ") {
      const row = store.hover;
      if (row < 0) return false;
      const combine = store.mask[row] ? "remove" : "add";
      store.select((i) => i === row, combine);
      this.tip.say(`Row ${this.data.number[row]} ${combine === "add" ? "selected" : "no longer selected"}.`);
      return true;
    }
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!way) return false;
    const { box } = this;
    const from = store.hover;
    const px = from < 0 ? (box.left + box.right) / 2 : this.x[from];
    const py = from < 0 ? (box.top + box.bottom) / 2 : this.y[from];
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.x.length; i++) {
      const dx = this.x[i] - px;
      const dy = this.y[i] - py;
      const along = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (i === from || !(along > 0 || (from < 0 && along >= 0)) || aside > 2 * along + 1) continue;
      const distance = along + 2 * aside;
      if (distance < least) {
        least = distance;
        best = i;
      }
    }
    if (best < 0) return true;
    store.setHover(best);
    const frame = this.picture.stage.getBoundingClientRect();
    this.tip.show(best, frame.left + this.x[best], frame.top + this.y[best], true);
    return true;
  }
}

/** Whether a point lies in a polygon (even–odd). */
function inside(polygon: [number, number][], px: number, py: number): boolean {
  let within = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [ax, ay] = polygon[i];
    const [bx, by] = polygon[j];
    if (ay > py !== by > py && px < ((bx - ax) * (py - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
