// A selection in any view holds the right rows, and all views show it.

import { clamp } from "../src/number";
import { agreed, drag, expect, expected, floats, frame, ink, listed, open, part, settle, test } from "./support";

for (const name of ["demo", "heavy", "large"] as const) {
  test(`${name}: brushing a histogram selects its rows`, async ({ page: tab }) => {
    const page = await open(tab, name);
    test.skip(!page.experts.length, "no expert");
    const clouds = tab.locator(".cloud canvas");
    const before = await ink(clouds.first());
    const at = await frame(tab.locator("#expert-1 .histogram .stage"));
    // The large page's table is long, so select a narrow range there.
    const range: [number, number] = name === "large" ? [0.2, 0.24] : name === "heavy" ? [0.01, 0.5] : [0.25, 0.5];
    await drag(tab, at, [[range[0], 0.5], [range[1], 0.6]]);
    const { from, width, counts } = page.experts[0].histogram;
    // The first and last bars include rows beyond the bins.
    const z = floats(page.rows.projections[0]).map((value) => clamp(value, from, from + width * counts.length));
    const slack = ((at.x[1] - at.x[0]) / (at.right - at.left)) * 1.01;
    const { sure, possible } = expected(page, (row, edge) => z[row] >= part(at.x, range[0]) - edge * slack && z[row] <= part(at.x, range[1]) + edge * slack);
    const count = await agreed(tab, page);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeGreaterThanOrEqual(sure.length);
    expect(count).toBeLessThanOrEqual(possible.size);
    if (count <= 2000) {
      const rows = await listed(tab);
      expect(rows.filter((row) => !possible.has(row))).toEqual([]);
      const chosen = new Set(rows);
      expect(sure.filter((row) => !chosen.has(row))).toEqual([]);
    }
    expect((await ink(clouds.first())).hash, "the scatter plot shows it").not.toBe(before.hash);
  });
}

for (const name of ["demo", "large"] as const) {
  test(`${name}: brushing the scatter plot selects its rows`, async ({ page: tab }) => {
    const page = await open(tab, name);
    test.skip(page.experts.length < 2, "fewer than two experts");
    await tab.locator("#scatter").getByLabel("Horizontal axis").selectOption("z0");
    await tab.locator("#scatter").getByLabel("Vertical axis").selectOption("z1");
    await settle(tab);
    const at = await frame(tab.locator("#scatter .stage"));
    const [u, v]: [number, number][] = name === "large" ? [[0.3, 0.34], [0.3, 0.34]] : [[0.1, 0.55], [0.15, 0.6]];
    await drag(tab, at, [[u[0], v[0]], [u[1], v[1]]]);
    const [a, b] = page.rows.projections.slice(0, 2).map(floats);
    const sx = ((at.x[1] - at.x[0]) / (at.right - at.left)) * 1.01;
    const sy = ((at.y[1] - at.y[0]) / (at.bottom - at.top)) * 1.01;
    const { sure, possible } = expected(
      page,
      (row, edge) =>
        a[row] >= part(at.x, u[0]) - edge * sx && a[row] <= part(at.x, u[1]) + edge * sx &&
        b[row] >= part(at.y, 1 - v[1]) - edge * sy && b[row] <= part(at.y, 1 - v[0]) + edge * sy,
    );
    const count = await agreed(tab, page);
    expect(count).toBeGreaterThan(0);
    const rows = await listed(tab);
    expect(rows.filter((row) => !possible.has(row))).toEqual([]);
    const chosen = new Set(rows);
    expect(sure.filter((row) => !chosen.has(row))).toEqual([]);
  });
}

test("lasso, adding, removing, inverting, clearing", async ({ page: tab }) => {
  const page = await open(tab, "four");
  const total = floats(page.rows.log_density).length;
  const stage = tab.locator("#scatter .stage");
  await tab.locator("#scatter").getByLabel("Horizontal axis").selectOption("z0");
  await tab.locator("#scatter").getByLabel("Vertical axis").selectOption("z1");
  await tab.locator("#scatter").getByText("Lasso", { exact: true }).click();
  const at = await frame(stage);
  await drag(tab, at, [[0.02, 0.02], [0.5, 0.02], [0.02, 0.9]]);
  const corner = await agreed(tab, page);
  const [a, b] = page.rows.projections.slice(0, 2).map(floats);
  const { sure, possible } = expected(page, (row, edge) => {
    const u = (a[row] - at.x[0]) / (at.x[1] - at.x[0]);
    const v = 1 - (b[row] - at.y[0]) / (at.y[1] - at.y[0]);
    const slack = edge * 0.006;
    return u >= 0.02 - slack && v >= 0.02 - slack && (u - 0.02) / 0.48 + (v - 0.02) / 0.88 <= 1 + slack;
  });
  expect(corner).toBeGreaterThanOrEqual(sure.length);
  expect(corner).toBeLessThanOrEqual(possible.size);
  expect(corner).toBeGreaterThan(0);

  // Reading the table scrolls the page, so measure the picture again.
  await drag(tab, await frame(stage), [[0.98, 0.98], [0.5, 0.98], [0.98, 0.2]], ["Shift"]);
  const both = await agreed(tab, page);
  expect(both).toBeGreaterThan(corner);
  await drag(tab, await frame(stage), [[0.98, 0.98], [0.5, 0.98], [0.98, 0.2]], ["Alt"]);
  expect(await agreed(tab, page)).toBe(corner);
  await tab.getByRole("button", { name: "Invert" }).click();
  await settle(tab);
  expect(await agreed(tab, page)).toBe(total - corner);
  await tab.getByRole("button", { name: "Clear" }).click();
  await settle(tab);
  await expect(tab.locator(".selection")).toBeHidden();
  await expect(tab.locator("#rows tbody tr")).toHaveCount(0);
});

test("an outlier's button, row numbers and a click select rows", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  const card = tab.locator(".outlier").first();
  await card.getByRole("button", { name: "Select" }).click();
  await settle(tab);
  expect(await agreed(tab, page)).toBe(1);
  expect(await listed(tab)).toEqual([Number(await card.getAttribute("data-row"))]);
  await tab.getByLabel("Row numbers").fill("2-5, 9");
  await tab.getByLabel("Row numbers").press("Enter");
  await settle(tab);
  expect(await listed(tab)).toEqual([2, 3, 4, 5, 9]);
});

test("the keyboard selects bars of a histogram and rows of the scatter plot", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  await tab.locator("#expert-1 .histogram .stage").focus();
  await tab.keyboard.press("ArrowRight");
  await settle(tab);
  const one = await agreed(tab, page);
  for (let k = 0; k < 4; k++) await tab.keyboard.press("Shift+ArrowRight");
  await settle(tab);
  expect(await agreed(tab, page)).toBeGreaterThan(one);
  await tab.keyboard.press("Escape");
  await settle(tab);
  await expect(tab.locator(".selection")).toBeHidden();

  await tab.locator("#scatter .stage").focus();
  await tab.keyboard.press("ArrowRight");
  await tab.keyboard.press("ArrowUp");
  await settle(tab);
  const said = await tab.locator("[role=status]").filter({ hasText: /^Row \d+: ln p/ }).textContent();
  await tab.keyboard.press("Enter");
  await settle(tab);
  expect(await listed(tab)).toEqual([Number(said!.match(/\d+/)![0])]);
});

test("hovering shows the row", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  test.skip(page.experts.length < 2, "fewer than two experts");
  const at = await frame(tab.locator("#scatter .stage"));
  const [a, b] = page.rows.projections.slice(0, 2).map(floats);
  // The leftmost row has no row near it.
  let row = 0;
  a.forEach((value, i) => (row = value < a[row] ? i : row));
  await tab.mouse.move(
    at.origin.x + at.left + ((a[row] - at.x[0]) / (at.x[1] - at.x[0])) * (at.right - at.left),
    at.origin.y + at.bottom - ((b[row] - at.y[0]) / (at.y[1] - at.y[0])) * (at.bottom - at.top),
  );
  await settle(tab);
  await expect(tab.locator(".tip")).toBeVisible();
  await expect(tab.locator(".tip strong")).toHaveText(/^Row \d+$/);
  await expect(tab.locator("#scatter .hover")).toHaveAttribute("visibility", "visible");
});

test("the table sorts and saves", async ({ page: tab }) => {
  await open(tab, "demo");
  await tab.getByLabel("Row numbers").fill("1-40");
  await tab.getByLabel("Row numbers").press("Enter");
  await settle(tab);
  await tab.locator("#rows thead").getByRole("button", { name: "ln p" }).click();
  const values = await tab.locator("#rows tbody tr td:nth-child(2)").allTextContents();
  const numbers = values.map((value) => Number(value.replace("−", "-")));
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  const download = tab.waitForEvent("download");
  await tab.getByRole("button", { name: "Save CSV" }).click();
  const stream = await (await download).createReadStream();
  let text = "";
  for await (const chunk of stream) text += chunk;
  expect(text.trim().split("\n").length).toBe(41);
  expect(text.split("\n")[0]).toMatch(/^row,ln p,/);
});

test("brushing the tour selects the rows under the brush", async ({ page: tab }) => {
  const page = await open(tab, "four");
  const stage = tab.locator("#tour .stage");
  await stage.scrollIntoViewIfNeeded();
  const first = await stage.getAttribute("data-frame");
  await expect.poll(() => stage.getAttribute("data-frame")).not.toBe(first);
  await tab.waitForTimeout(500);
  await tab.locator("#tour").getByRole("button", { name: "Pause" }).click();
  await tab.locator("#tour").getByText("Select", { exact: true }).click();
  await tab.getByLabel("Zoom").fill("2.5");
  await settle(tab);
  const numbers = async (name: string): Promise<number[]> => (await stage.getAttribute(name))!.split(" ").map(Number);
  const plane = await numbers("data-frame");
  const [cx, cy, size] = await numbers("data-centre");
  const d = plane.length / 2;
  const z = page.rows.projections.map(floats);
  expect(z.length).toBe(d);
  const place = (row: number, axis: number): number => z.reduce((sum, values, k) => sum + plane[axis * d + k] * values[row], 0) * size;
  const box = (await stage.boundingBox())!;
  // A triangle whose sides cross the cloud, drawn from its right angle.
  const [left, top, side] = [cx - 0.8 * size, cy - 0.8 * size, 2.2 * size];
  const corners = [[left, top], [left, top + side], [left + side, top]];
  await tab.mouse.move(box.x + left, box.y + top);
  await tab.mouse.down();
  for (const [x, y] of corners.slice(1)) await tab.mouse.move(box.x + x, box.y + y, { steps: 5 });
  await tab.mouse.up();
  await settle(tab);
  const { sure, possible } = expected(page, (row, edge) => {
    const [u, v] = [cx + place(row, 0) - left, cy - place(row, 1) - top];
    return u >= -edge && v >= -edge && u + v <= side + 1.5 * edge;
  });
  expect(sure.length).toBeGreaterThan(20);
  expect(sure.length).toBeLessThan(possible.size + 1);
  expect(possible.size).toBeLessThan(floats(page.rows.log_density).length);
  const count = await agreed(tab, page);
  const rows = new Set(await listed(tab));
  expect(rows.size).toBe(count);
  expect(sure.filter((row) => !rows.has(row))).toEqual([]);
  expect([...rows].filter((row) => !possible.has(row))).toEqual([]);
});
