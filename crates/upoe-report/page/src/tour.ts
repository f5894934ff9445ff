// A grand tour: a smooth path through planes of a space of many dimensions.

import { Cloud, type Tool } from "./cloud";
import type { Data } from "./data";
import { choice, fresh, h, s, segments, wide } from "./dom";
import { depthOf, type Frame, generator, randomFrame, roll, spin, start, type Vector, type Way, way } from "./frames";
import { clamp } from "./number";
import { remark, spaces } from "./spaces";
import type { Store } from "./store";
import type { Tip } from "./tip";

/** Rows projected at a time. */
const BLOCK = 2048;

export function tour(data: Data, store: Store, tip: Tip): HTMLElement {
  const all = spaces(data);
  const note = remark(data.projections.length, all);
  if (!all.length) return h("p", {}, note);
  const random = generator(20);
  let space = all[0];
  let frame: Frame = start(space.axes.length);
  let road: Way = way(frame, frame);
  let along = 1;
  let depth: Vector | null = null;
  let speed = 0.35;
  let zoom = 1;
  let playing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  let visible = false;
  let dragging = false;

  const cloud = new Cloud(
    data,
    store,
    tip,
    {
      title: "Tour",
      keys: "Space plays and pauses. Arrow keys rotate the plane. Escape clears the selection.",
      height: (width) => Math.min(600, Math.max(340, width * 0.78)),
      margin: { left: 8, right: 8, top: 8, bottom: 8 },
      tool: "turn",
    },
    {
      place: (box, px, py, samples) => {
        const size = (Math.min(box.right - box.left, box.bottom - box.top) / 2 / space.reach) * zoom;
        const [cx, cy] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
        // For tests: a row is drawn at (cx, cy) + size · (frame · row).
        cloud.picture.stage.dataset.centre = [cx, cy, size].map((value) => value.toFixed(3)).join(" ");
        const axes = space.axes.flatMap((axis, k) => {
          const values = samples ? axis.samples : axis.rows;
          return values ? [{ values, a: frame[0][k] * size, b: -frame[1][k] * size }] : [];
        });
        if (axes.length < space.axes.length) return false;
        // Work in blocks of rows that stay in the cache while the axes are summed.
        for (let from = 0; from < px.length; from += BLOCK) {
          const to = Math.min(px.length, from + BLOCK);
          px.fill(cx, from, to);
          py.fill(cy, from, to);
          for (const { values, a, b } of axes)
            for (let i = from; i < to; i++) {
              px[i] += a * values[i];
              py[i] += b * values[i];
            }
        }
        // Rows outside the picture are drawn at its edge.
        for (let i = 0; i < px.length; i++) {
          px[i] = clamp(px[i], box.left + 3, box.right - 3);
          py[i] = clamp(py[i], box.top + 3, box.bottom - 3);
        }
        return true;
      },
      overlay: (svg, box) => {
        needle = s("g", { class: "needle" });
        svg.append(needle);
        corner = box;
        point();
      },
      describe: () => `A plane in the space of ${space.label}: ${space.axes.length} axes.`,
      turn: (dx, dy) => {
        turn(dx * 0.008, dy * 0.008);
      },
      key: (event) => {
        if (event.key === " ") play(!playing);
        else if (event.key.startsWith("Arrow")) {
          const step = 0.06;
          turn({ ArrowLeft: -step, ArrowRight: step }[event.key] ?? 0, { ArrowUp: -step, ArrowDown: step }[event.key] ?? 0);
        } else return false;
        return true;
      },
    },
  );

  let needle = s("g", {});
  let corner = { left: 0, right: 0, top: 0, bottom: 0 };
  /** Draws the position of each axis in the plane. */
  function point(): void {
    const size = Math.min(54, (corner.right - corner.left) / 9);
    const [cx, cy] = [corner.left + size + 22, corner.bottom - size - 16];
    needle.replaceChildren(s("circle", { cx, cy, r: size, class: "rim" }));
    space.axes.forEach(({ label }, k) => {
      const [dx, dy] = [frame[0][k] * size, -frame[1][k] * size];
      const length = Math.hypot(dx, dy);
      needle.append(s("line", { x1: cx, y1: cy, x2: (cx + dx).toFixed(1), y2: (cy + dy).toFixed(1) }));
      if (length > size * 0.35)
        needle.append(
          s("text", { x: (cx + dx + (dx / length) * 11).toFixed(1), y: (cy + dy + (dy / length) * 9 + 4).toFixed(1), "text-anchor": dx < -4 ? "end" : dx > 4 ? "start" : "middle" }, [...label].slice(0, 10).join("")),
        );
    });
    cloud.picture.stage.dataset.frame = [...frame[0], ...frame[1]].map((value) => value.toFixed(4)).join(" ");
  }

  function turn(yaw: number, pitch: number): void {
    if (space.axes.length < 3) frame = spin(frame, yaw - pitch);
    else {
      const rolled = roll(frame, (depth ??= depthOf(frame, random)!), yaw, pitch);
      frame = rolled.frame;
      depth = rolled.depth;
    }
    along = 1;
    road = way(frame, frame);
    point();
    cloud.paint();
  }

  let before = 0;
  function step(now: number): void {
    const seconds = Math.min(0.1, (now - before) / 1000);
    before = now;
    if (!playing || !visible || document.hidden) {
      running = false;
      return;
    }
    if (!dragging) {
      if (space.axes.length < 3) frame = spin(frame, speed * seconds);
      else {
        if (along >= 1) {
          road = way(frame, randomFrame(space.axes.length, random));
          along = 0;
          depth = null;
        }
        along = road.length > 1e-6 ? Math.min(1, along + (speed * seconds) / road.length) : 1;
        frame = road.at(along);
      }
      point();
      cloud.paint();
    }
    requestAnimationFrame(step);
  }
  let running = false;
  function run(): void {
    if (running || !playing || !visible) return;
    running = true;
    before = performance.now();
    requestAnimationFrame(step);
  }

  const button = h("button", { type: "button", class: "play", click: () => play(!playing) });
  function play(on: boolean): void {
    playing = on;
    button.textContent = on ? "Pause" : "Play";
    button.setAttribute("aria-pressed", String(on));
    run();
  }
  play(playing);
  cloud.picture.stage.addEventListener("pointerdown", () => (dragging = true));
  for (const end of ["pointerup", "pointercancel"]) cloud.picture.stage.addEventListener(end, () => (dragging = false));
  new IntersectionObserver(([entry]) => {
    visible = entry.isIntersecting;
    run();
  }).observe(cloud.picture.stage);
  document.addEventListener("visibilitychange", run);

  function slider(label: string, least: number, most: number, by: number, value: number, change: (value: number) => void): HTMLElement {
    const id = fresh("slider");
    const input = h("input", { id, type: "range", min: least, max: most, step: by, value, input: () => change(input.valueAsNumber) });
    return h("div", { class: "field" }, h("label", { for: id }, label), input);
  }
  return h(
    "div",
    { class: "with-controls" },
    cloud.picture.root,
    h(
      "div",
      { class: "controls" },
      h(
        "div",
        { class: "buttons" },
        button,
        h("button", { type: "button", click: () => {
          frame = start(space.axes.length);
          along = 1;
          depth = null;
          point();
          cloud.paint();
        } }, "Start over"),
      ),
      slider("Speed", 0.05, 1.5, 0.05, speed, (value) => (speed = value)),
      slider("Zoom", 0.5, 3, 0.1, zoom, (value) => {
        zoom = value;
        cloud.paint();
      }),
      all.length > 1 &&
        wide(choice("Tour of", [{ label: "Tour of", options: all.map(({ id, label }) => ({ value: id, label })) }], space.id, (id) => {
          space = all.find((candidate) => candidate.id === id) ?? space;
          frame = start(space.axes.length);
          along = 1;
          depth = null;
          cloud.picture.redraw();
        })),
      segments(
        "Drag to",
        [
          { value: "turn", label: "Rotate" },
          { value: "lasso", label: "Select" },
        ],
        "turn",
        (tool) => (cloud.tool = tool as Tool),
      ),
      note && h("p", { class: "fine" }, note),
    ),
  );
}
