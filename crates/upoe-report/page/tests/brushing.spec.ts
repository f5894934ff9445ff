// A selection made anywhere is the right one, and is the same everywhere.

import { agreed, drag, expect, expected, floats, frame, ink, listed, open, part, settle, test } from "./support";

for (const name of ["demo", "four", "one", "large"] as const) {
  test(`${name}: brushing a histogram selects its rows`, async ({ page: tab }) => {
    const page = await open(tab, name);
    test.skip(!page.experts.length, "no expert");
    const clouds = tab.locator(".cloud canvas");
    const before = await ink(clouds.first());
    const at = await frame(tab.locator("#expert-1 .histogram .stage"));
    // The large page's table is long: a narrow range there.
    const range: [number, number] = name === "large" ? [0.2, 0.24] : [0.25, 0.5];
    await drag(tab, at, [[range[0], 0.5], [range[1], 0.6]]);
    const z = floats(page.rows.projections[0]);
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

  test(`${name}: brushing the scatter plot selects its rows`, async ({ page: tab }) => {
    const page = await open(tab, name);
    test.skip(page.experts.length < 2, "fewer than two experts");
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

test("lasso, adding, taking away, inverting, clearing", async ({ page: tab }) => {
  const page = await open(tab, "four");
  const total = floats(page.rows.log_density).length;
  const stage = tab.locator("#scatter .stage");
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

  // Reading the table scrolls the page: ask again where the picture is.
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

test("the keyboard selects in a histogram and walks the scatter plot", async ({ page: tab }) => {
  const page = await open(tab, "crabs");
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
  // The row farthest left stands alone.
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
  await open(tab, "crabs");
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
