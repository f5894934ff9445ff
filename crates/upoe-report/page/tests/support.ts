// Opens a page, reads its numbers and checks its drawings.

import { expect, test as base, type Locator, type Page as Tab } from "@playwright/test";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { codes, floats } from "../src/data";
import { type Page, parse } from "../src/schema";

const made = (name: string): string => resolve(process.env.UPOE_PAGES ?? ".", `${name}.html`);

/** Pages of fitted models, made by xtask/src/pages.rs. */
export const PAGES = {
  demo: process.env.UPOE_REPORT_HTML ? resolve(process.env.UPOE_REPORT_HTML) : made("crabs"),
  large: made("large"),
  four: made("four"),
  heavy: made("heavy"),
  gaussian: made("gaussian"),
  image: made("image"),
  hostile: made("hostile"),
  degenerate: made("degenerate"),
  layers: made("layers"),
  many: made("many"),
  missing: made("missing"),
  wide: made("wide"),
};
export type Name = keyof typeof PAGES;

/** Errors and network requests while the page was open. */
export interface Trouble {
  errors: string[];
  requests: string[];
}

export const test = base.extend<{ trouble: Trouble }>({
  // Every test ends with a check of the console and the network.
  trouble: [
    async ({ page }, use) => {
      const trouble: Trouble = { errors: [], requests: [] };
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") trouble.errors.push(message.text());
      });
      page.on("pageerror", (error) => trouble.errors.push(String(error.stack)));
      page.on("request", (request) => {
        if (!/^(file|data|blob):/.test(request.url())) trouble.requests.push(request.url());
      });
      await use(trouble);
      expect(trouble.errors, "console").toEqual([]);
      expect(trouble.requests, "network").toEqual([]);
    },
    { auto: true },
  ],
});
export { expect };

export async function open(tab: Tab, name: Name): Promise<Page> {
  expect(existsSync(PAGES[name]), PAGES[name]).toBe(true);
  await tab.goto(`file://${PAGES[name]}`);
  await expect(tab.locator("main section").first()).toBeVisible();
  await settle(tab);
  return parse((await tab.locator("#upoe-page").textContent())!);
}

/** Waits until every view shows the changes. */
export async function settle(tab: Tab): Promise<void> {
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)))));
}

/** A hash of a canvas's pixels, and its number of colours. */
export function ink(canvas: Locator): Promise<{ hash: number; colours: number }> {
  return canvas.evaluate((element) => {
    const target = element as HTMLCanvasElement;
    const { data } = target.getContext("2d")!.getImageData(0, 0, target.width, target.height);
    let hash = 0;
    const colours = new Set<number>();
    for (const word of new Uint32Array(data.buffer)) {
      hash = (Math.imul(hash, 31) + word) | 0;
      if (colours.size < 1000) colours.add(word);
    }
    return { hash, colours: colours.size };
  });
}

export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: [number, number];
  y: [number, number];
  /** Page coordinates of the picture's top left corner. */
  origin: { x: number; y: number };
}

/** How values and pixels correspond in a picture. */
export async function frame(stage: Locator): Promise<Frame> {
  await stage.scrollIntoViewIfNeeded();
  const { box, x, y } = await stage.locator("svg").evaluate((svg) => ({ ...(svg as SVGElement).dataset }) as Record<string, string>);
  const [left, right, top, bottom] = box.split(" ").map(Number);
  const origin = (await stage.boundingBox())!;
  const pair = (text: string): [number, number] => text.split(" ").map(Number) as [number, number];
  return { left, right, top, bottom, x: pair(x), y: pair(y), origin };
}

/** Drags along fractions of a picture's box. */
export async function drag(tab: Tab, at: Frame, corners: [number, number][], keys: ("Shift" | "Alt")[] = []): Promise<void> {
  const place = ([u, v]: [number, number]): [number, number] => [
    at.origin.x + at.left + u * (at.right - at.left),
    at.origin.y + at.top + v * (at.bottom - at.top),
  ];
  for (const key of keys) await tab.keyboard.down(key);
  await tab.mouse.move(...place(corners[0]));
  await tab.mouse.down();
  for (const corner of corners.slice(1)) await tab.mouse.move(...place(corner), { steps: 4 });
  await tab.mouse.up();
  for (const key of keys) await tab.keyboard.up(key);
  await settle(tab);
}

/** Value at a fraction of a domain. */
export const part = ([a, b]: [number, number], t: number): number => a + (b - a) * t;

/** Row numbers that are surely inside, and those that may be: rows near an edge are undecided. */
export function expected(page: Page, inside: (row: number, slack: number) => boolean): { sure: number[]; possible: Set<number> } {
  const number = codes(page.rows.number);
  const sure: number[] = [];
  const possible = new Set<number>();
  for (let row = 0; row < number.length; row++) {
    if (inside(row, -1)) sure.push(number[row]);
    if (inside(row, 1)) possible.add(number[row]);
  }
  return { sure, possible };
}

/** Every row number in the table of selected rows. */
export async function listed(tab: Tab): Promise<number[]> {
  const more = tab.locator("#rows").getByRole("button", { name: "Show more" });
  while (await more.isVisible()) {
    await more.click();
  }
  return (await tab.locator("#rows tbody tr").evaluateAll((rows) => rows.map((row) => Number((row as HTMLElement).dataset.row)))).sort((a, b) => a - b);
}

/** Checks that every view shows the same selection, and returns its size. */
export async function agreed(tab: Tab, page: Page): Promise<number> {
  const text = (await tab.locator("#selected-count").textContent())!;
  const count = Number(text.split(" of ")[0].replace(/\D/g, ""));
  for (const stage of await tab.locator(".stage[data-selected]:visible").all())
    expect(await stage.getAttribute("data-selected")).toBe(String(count));
  for (const stage of await tab.locator(".histogram .stage:visible").all()) {
    const counts = await stage.locator("[data-count]").evaluateAll((bars) => bars.map((bar) => Number((bar as SVGElement).dataset.count)));
    expect(counts.reduce((sum, value) => sum + value, 0)).toBe(count);
  }
  const cards = await tab.locator(".outlier").evaluateAll((items) =>
    items.map((item) => ({ row: Number((item as HTMLElement).dataset.row), on: item.classList.contains("selected") })),
  );
  expect(cards.length).toBe(page.outliers.rows.length);
  if (count <= 2000) {
    const rows = new Set(await listed(tab));
    expect(rows.size).toBe(count);
    for (const card of cards) expect(card.on, `outlier ${card.row}`).toBe(rows.has(card.row));
  }
  return count;
}

export { codes, floats };

/** Opens what is folded away, and waits until it is drawn. */
export async function unfold(tab: Tab): Promise<void> {
  await tab.evaluate(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  await settle(tab);
}
