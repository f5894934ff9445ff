// Draws many points fast without a GPU: each point is a small antialiased stamp
// blended directly into the canvas's pixels. 50,000 take a few milliseconds.

import type { Rgb, Shape } from "./colour";
import type { Box } from "./picture";

export interface Layer {
  /** Positions in CSS pixels. */
  x: Float32Array;
  y: Float32Array;
  /** Which points to draw; all when absent. */
  rows?: Uint32Array;
  /** Palette index of each point; the first colour when absent. */
  index?: Uint8Array;
  palette: Rgb[];
  /** Shape of each palette index; discs when absent. */
  shapes?: Shape[] | null;
  radius: number;
  alpha: number;
}

/** Positions of the grid lines, and the box they cross. */
export interface Grid {
  box: Box;
  x: number[];
  y: number[];
}

/** Number of sub-pixel positions of a stamp along each axis. */
const STEPS = 4;

/** Signed distance from a shape of radius 1, negative inside. */
const DISTANCE: Record<Shape, (x: number, y: number) => number> = {
  disc: (x, y) => Math.hypot(x, y) - 1,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) - 0.86,
  triangle: (x, y) => Math.max(y - 0.7, (Math.abs(x) * 1.732 - y) / 2 - 0.62),
  down: (x, y) => Math.max(-y - 0.7, (Math.abs(x) * 1.732 + y) / 2 - 0.62),
  diamond: (x, y) => (Math.abs(x) + Math.abs(y) - 1.2) * 0.707,
  plus: (x, y) => Math.max(Math.min(Math.abs(x), Math.abs(y)) - 0.32, Math.max(Math.abs(x), Math.abs(y)) - 1.1),
  ring: (x, y) => Math.abs(Math.hypot(x, y) - 0.85) - 0.15,
  cross: (x, y) => DISTANCE.plus((x + y) * 0.707, (x - y) * 0.707),
};

/** The pixels that a shape covers, for each sub-pixel position. */
interface Stamp {
  /** How many pixels it extends from its centre. */
  reach: number;
  positions: { dx: Int8Array; dy: Int8Array; cover: Uint16Array }[];
}

export class Points {
  readonly canvas: HTMLCanvasElement;
  private context: CanvasRenderingContext2D;
  private pixels: ImageData | null = null;
  private stamps = new Map<string, Stamp>();
  private ratio = 1;

  constructor(canvas: HTMLCanvasElement) {
    this.canvas = canvas;
    // The CPU writes the pixels, so keep them in main memory.
    this.context = canvas.getContext("2d", { alpha: false, willReadFrequently: true })!;
  }

  /** Draws grid lines (in CSS pixels), then points over them. */
  draw(width: number, height: number, layers: Layer[], background: Rgb, grid: Grid | null, hair: Rgb): void {
    const many = layers.reduce((sum, layer) => sum + (layer.rows ?? layer.x).length, 0) > 20_000;
    this.ratio = Math.min(window.devicePixelRatio || 1, many ? 1.5 : 3);
    const w = Math.max(1, Math.round(width * this.ratio));
    const hgt = Math.max(1, Math.round(height * this.ratio));
    if (this.canvas.width !== w || this.canvas.height !== hgt) {
      this.canvas.width = w;
      this.canvas.height = hgt;
      this.pixels = null;
    }
    this.pixels ??= this.context.createImageData(w, hgt);
    const [r, g, b] = background;
    new Uint32Array(this.pixels.data.buffer).fill((255 << 24) | (b << 16) | (g << 8) | r);
    if (grid) this.rule(grid, hair, this.pixels);
    for (const layer of layers) this.blend(layer, this.pixels);
    this.context.putImageData(this.pixels, 0, 0);
  }

  private rule({ box, x, y }: Grid, [r, g, b]: Rgb, { data, width, height }: ImageData): void {
    const words = new Uint32Array(data.buffer);
    const colour = (255 << 24) | (b << 16) | (g << 8) | r;
    const at = (value: number): number => Math.round(value * this.ratio);
    const thick = Math.max(1, Math.round(this.ratio));
    const fill = (x0: number, x1: number, y0: number, y1: number): void => {
      for (let row = Math.max(0, y0); row < Math.min(height, y1); row++)
        words.fill(colour, row * width + Math.max(0, x0), row * width + Math.min(width, x1));
    };
    for (const value of x) fill(at(value), at(value) + thick, at(box.top), at(box.bottom));
    for (const value of y) fill(at(box.left), at(box.right), at(value), at(value) + thick);
  }

  private blend(layer: Layer, image: ImageData): void {
    const { x, y, rows, index, palette } = layer;
    const { width, height } = image;
    const ratio = this.ratio;
    // Blended values stay within 0…255, so no clamping is needed.
    const pixels = new Uint8Array(image.data.buffer);
    const shapes = layer.shapes ?? [];
    const stamps = palette.map((_, at) => this.stamp(shapes[at] ?? "disc", layer.radius * ratio));
    const colours = Uint8Array.from(palette.flat());
    const alpha = Math.round(layer.alpha * 256);
    const count = rows ? rows.length : x.length;
    for (let at = 0; at < count; at++) {
      const row = rows ? rows[at] : at;
      const px = x[row] * ratio;
      const py = y[row] * ratio;
      // Also false for NaN: a row with a missing cell is not drawn.
      if (!(px > -50 && py > -50 && px < width + 50 && py < height + 50)) continue;
      const colour = index ? index[row] : 0;
      const r = colours[3 * colour];
      const g = colours[3 * colour + 1];
      const b = colours[3 * colour + 2];
      const ix = Math.floor(px);
      const iy = Math.floor(py);
      const { reach, positions } = stamps[colour];
      const { dx, dy, cover } = positions[(((py - iy) * STEPS) | 0) * STEPS + (((px - ix) * STEPS) | 0)];
      const whole = ix >= reach && iy >= reach && ix < width - reach && iy < height - reach;
      for (let k = 0; k < cover.length; k++) {
        const tx = ix + dx[k];
        const ty = iy + dy[k];
        if (!whole && (tx < 0 || ty < 0 || tx >= width || ty >= height)) continue;
        const to = (ty * width + tx) << 2;
        const part = (cover[k] * alpha) >> 8;
        pixels[to] += ((r - pixels[to]) * part) >> 8;
        pixels[to + 1] += ((g - pixels[to + 1]) * part) >> 8;
        pixels[to + 2] += ((b - pixels[to + 2]) * part) >> 8;
      }
    }
  }

  private stamp(shape: Shape, radius: number): Stamp {
    const key = `${shape} ${radius}`;
    const known = this.stamps.get(key);
    if (known) return known;
    const reach = Math.ceil(radius * 1.3 + 1);
    const positions = [];
    for (let sy = 0; sy < STEPS; sy++)
      for (let sx = 0; sx < STEPS; sx++) {
        const found: [number, number, number][] = [];
        for (let dy = -reach; dy <= reach; dy++)
          for (let dx = -reach; dx <= reach; dx++) {
            const x = dx + 0.5 - (sx + 0.5) / STEPS;
            const y = dy + 0.5 - (sy + 0.5) / STEPS;
            const inside = 0.5 - DISTANCE[shape](x / radius, y / radius) * radius;
            const cover = Math.round(256 * Math.min(1, Math.max(0, inside)));
            if (cover > 4) found.push([dx, dy, cover]);
          }
        positions.push({
          dx: Int8Array.from(found, (pixel) => pixel[0]),
          dy: Int8Array.from(found, (pixel) => pixel[1]),
          cover: Uint16Array.from(found, (pixel) => pixel[2]),
        });
      }
    const made = { reach, positions };
    this.stamps.set(key, made);
    return made;
  }
}
