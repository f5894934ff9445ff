// Selecting rows in a cloud with the pointer and the keyboard.

import type { Cloud } from "./cloud";
import { combineOf } from "./store";

/** The row nearest to a pixel, within `reach`. */
function nearest(cloud: Cloud, px: number, py: number, reach: number): number {
  let best = -1;
  let least = reach * reach;
  for (let i = 0; i < cloud.x.length; i++) {
    const dx = cloud.x[i] - px;
    const dy = cloud.y[i] - py;
    const distance = dx * dx + dy * dy;
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

/** Lets pointer and keyboard select rows in a cloud. */
export function listen(cloud: Cloud): void {
  const { stage } = cloud.picture;
  let trail: [number, number][] = [];
  const at = (event: PointerEvent): [number, number] => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    stage.focus({ preventScroll: true, focusVisible: false });
    trail = [at(event)];
    event.preventDefault();
  });
  stage.addEventListener("pointermove", (event) => {
    const here = at(event);
    if (!trail.length) {
      const row = cloud.store.show === "samples" ? -1 : nearest(cloud, ...here, 14);
      cloud.store.setHover(row);
      cloud.tip.show(row, event.clientX, event.clientY);
      return;
    }
    cloud.tip.hide();
    if (cloud.tool === "turn" && !event.shiftKey) {
      const last = trail[trail.length - 1];
      cloud.placement.turn?.(here[0] - last[0], here[1] - last[1]);
      trail.push(here);
    } else {
      trail.push(here);
      cloud.brush.setAttribute("d", outline(cloud, trail));
    }
  });
  const end = (event: PointerEvent): void => {
    if (!trail.length) return;
    const [first] = trail;
    const moved = trail.some(([px, py]) => Math.hypot(px - first[0], py - first[1]) > 4);
    const turned = cloud.tool === "turn" && !event.shiftKey;
    if (event.type === "pointerup" && !moved) {
      const row = nearest(cloud, ...first, 14);
      if (row >= 0) cloud.store.select((i) => i === row, combineOf(event));
      else cloud.store.clear();
    } else if (event.type === "pointerup" && !turned) {
      select(cloud, trail, event);
    }
    trail = [];
    cloud.brush.setAttribute("d", "");
  };
  stage.addEventListener("pointerup", end);
  stage.addEventListener("pointercancel", end);
  stage.addEventListener("pointerleave", () => {
    cloud.tip.hide();
    cloud.store.setHover(-1);
  });
  stage.addEventListener("keydown", (event) => {
    if (cloud.placement.key?.(event) || walk(cloud, event)) event.preventDefault();
  });
  stage.addEventListener("blur", () => cloud.tip.hide());
}

/** The brush's corners: the trail itself, or the rectangle from its first to its last point. */
function corners(cloud: Cloud, trail: [number, number][]): [number, number][] {
  if (cloud.tool === "lasso") return trail;
  const [a, b] = [trail[0], trail[trail.length - 1]];
  return [a, [b[0], a[1]], b, [a[0], b[1]]];
}

function outline(cloud: Cloud, trail: [number, number][]): string {
  return `M${corners(cloud, trail).map((corner) => corner.map((v) => v.toFixed(1)).join(",")).join("L")}Z`;
}

function select(cloud: Cloud, trail: [number, number][], event: PointerEvent): void {
  const polygon = corners(cloud, trail);
  const { x, y } = cloud;
  cloud.store.select((row) => inside(polygon, x[row], y[row]), combineOf(event));
}

/** Arrow keys move from row to row, Enter selects, Escape clears the selection. */
function walk(cloud: Cloud, event: KeyboardEvent): boolean {
  const { store } = cloud;
  if (event.key === "Escape") {
    store.clear();
    return true;
  }
  if (event.key === "Enter" || event.key === " ") {
    const row = store.hover;
    if (row < 0) return false;
    const combine = store.mask[row] ? "remove" : "add";
    store.select((i) => i === row, combine);
    cloud.tip.say(`Row ${cloud.data.number[row]} ${combine === "add" ? "selected" : "no longer selected"}.`);
    return true;
  }
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!way) return false;
  const { box } = cloud;
  const from = store.hover;
  const px = from < 0 ? (box.left + box.right) / 2 : cloud.x[from];
  const py = from < 0 ? (box.top + box.bottom) / 2 : cloud.y[from];
  let best = -1;
  let least = Infinity;
  for (let i = 0; i < cloud.x.length; i++) {
    const dx = cloud.x[i] - px;
    const dy = cloud.y[i] - py;
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
  const frame = cloud.picture.stage.getBoundingClientRect();
  cloud.tip.show(best, frame.left + cloud.x[best], frame.top + cloud.y[best], true);
  return true;
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
