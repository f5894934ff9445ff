// A cloud of rows on a canvas: colours, selection, the row under the pointer.
// The scatter plot and the tour place its points.

import { listen } from "./brush";
import { type Colouring, colouring, themed } from "./colour";
import type { Data } from "./data";
import { h, s } from "./dom";
import { drawLegend } from "./legend";
import { plural, whole } from "./number";
import { type Box, Picture } from "./picture";
import { type Layer, Points } from "./points";
import type { Store } from "./store";
import type { Tip } from "./tip";

export type Tool = "rectangle" | "lasso" | "turn";

export interface Placement {
  /** Fills in the pixel positions of rows or of samples. Returns false if there are none. */
  place: (box: Box, x: Float32Array, y: Float32Array, samples: boolean) => boolean;
  /** Draws axes. */
  overlay: (svg: SVGSVGElement, box: Box) => void;
  /** Grid lines below the points. */
  grid?: () => { x: number[]; y: number[] };
  describe: () => string;
  /** Dragging with the turn tool, in pixels. */
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
  readonly brush: SVGPathElement;
  private ring: SVGCircleElement;
  private colours: Colouring;
  box: Box = { left: 0, right: 0, top: 0, bottom: 0 };
  readonly data: Data;
  readonly store: Store;
  readonly tip: Tip;
  readonly placement: Placement;
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
    listen(this);
    store.on(["selection", "show"], () => this.picture.redraw());
    store.on(["hover"], () => this.mark());
    store.on(["colour", "theme"], () => {
      this.colours = colouring(data, store.colour);
      this.picture.redraw();
    });
  }

  private draw(): void {
    const { svg, width, height } = this.picture;
    const legend = drawLegend(this.colours, this.store.show, width, this.margin.left);
    const { left, right, top, bottom } = this.margin;
    this.box = { left, right: width - right, top: top + legend.height, bottom: height - bottom };
    this.placement.overlay(svg, this.box);
    svg.append(legend.group, this.brush, this.ring);
    this.paint();
  }

  /** Draws only the points, as each frame of the tour does. */
  paint(): void {
    const { width, height } = this.picture;
    if (!width) return;
    const { store, colours } = this;
    const layers: Layer[] = [];
    const n = this.data.count;
    // Shapes need some pixels to be told apart.
    const plain = colours.shapes === null;
    const radius = n > 20_000 ? (plain ? 1.3 : 2) : n > 3000 ? (plain ? 1.8 : 2.3) : n > 600 ? 2.6 : 3.6;
    const alpha = n > 20_000 ? 0.45 : n > 3000 ? 0.6 : 0.82;
    const placed = this.placement.place(this.box, this.x, this.y, false);
    if (store.show !== "samples" && placed) {
      const { shapes } = colours;
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
        x: this.sx, y: this.sy, palette: [themed("--samples")], shapes: ["ring"], radius: Math.max(2, radius * 1.1),
        alpha: this.sx.length > 2000 ? 0.3 : 0.7,
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
}
