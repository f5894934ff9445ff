// Every page opens without an error, draws every view, and fits its width.

import { statSync } from "node:fs";
import { expect, floats, ink, type Name, open, PAGES, settle, test, unfold } from "./support";

for (const name of Object.keys(PAGES) as Name[]) {
  test(`${name}: every view is drawn`, async ({ page: tab }) => {
    const page = await open(tab, name);
    for (const id of ["summary", ...(page.experts.length ? ["gain"] : []), "experts", "scatter", "tour", "outliers", "rows"])
      await expect(tab.locator(`section#${id} h2`)).toHaveCount(1);
    const drawn = Math.min(page.experts.length, page.experts.length <= 15 ? 15 : 12);
    await expect(tab.locator("#experts .expert")).toHaveCount(drawn);
    await expect(tab.locator("#experts .expert .histogram .fitted")).toHaveCount(drawn);
    await expect(tab.locator("#experts .expert .histogram .gaussian")).toHaveCount(drawn);
    await expect(tab.locator("#experts .expert .qq .dots")).toHaveCount(drawn);
    await expect(tab.locator(".outlier")).toHaveCount(page.outliers.rows.length);
    // Without experts the curve would be one point.
    await expect(tab.locator("#gain .dot.train")).toHaveCount(page.experts.length ? page.path.train.length : 0);
    await expect(tab.locator("#gain .optimum")).toHaveCount(page.experts.length ? 1 : 0);
    await unfold(tab);
    for (const picture of await tab.locator("figure.picture:visible").all()) {
      expect(await picture.locator("svg > *:not(desc)").count(), "marks").toBeGreaterThan(0);
      expect(await picture.locator("svg > desc").textContent()).not.toBe("");
      await expect(picture.getByRole("button", { name: /^Save “.*” as SVG$/s })).toHaveCount(1);
      await expect(picture.getByRole("button", { name: /^Save “.*” as PNG$/s })).toHaveCount(1);
    }
    for (const canvas of await tab.locator(".cloud canvas").all()) expect((await ink(canvas)).colours).toBeGreaterThan(3);
    if (!page.experts.length) await expect(tab.locator("#experts")).toContainText("look Gaussian");
    const shown = floats(page.rows.log_density).length;
    if (page.rows.total > shown) await expect(tab.locator("#scatter")).toContainText(/rows are shown/);
    for (const { counts, below, above } of page.experts.map((expert) => expert.histogram)) {
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(page.rows.total);
      expect(below + above).toBeLessThan(0.05 * page.rows.total);
    }
    // The page fits the widths of a phone, a tablet and a desktop.
    for (const width of [390, 820, 1280]) {
      await tab.setViewportSize({ width, height: 800 });
      await settle(tab);
      expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });
}

test("a button shows the other experts", async ({ page: tab }) => {
  const page = await open(tab, "many");
  expect(page.experts.length).toBeGreaterThan(15);
  await tab.getByRole("button", { name: /Show the other \d+ experts/ }).click();
  await settle(tab);
  await expect(tab.locator("#experts .expert")).toHaveCount(page.experts.length);
  await expect(tab.locator("#experts .expert .histogram .fitted")).toHaveCount(page.experts.length);
});

test("the demo's page is small and self-contained", async ({ page: tab }) => {
  expect(statSync(PAGES.demo).size).toBeLessThan(1_000_000);
  await open(tab, "demo");
  const outside = await tab.locator("[src], link[href], [href]").evaluateAll((elements) =>
    elements
      .map((element) => element.getAttribute("src") ?? element.getAttribute("href")!)
      .filter((address) => !/^(#|data:)/.test(address)),
  );
  expect(outside).toEqual([]);
  expect(await tab.locator("meta[http-equiv=Content-Security-Policy]").getAttribute("content")).toContain("default-src 'none'");
});

test("the policy stops connections", async ({ page: tab, trouble }) => {
  await open(tab, "demo");
  const answer = await tab.evaluate(() => fetch("data:text/plain,hello").then(() => "connected", () => "refused"));
  expect(answer).toBe("refused");
  expect(trouble.errors.splice(0).join()).toContain("Content Security Policy");
});

test("light and dark", async ({ page: tab }) => {
  await tab.emulateMedia({ colorScheme: "dark" });
  await open(tab, "demo");
  const paper = (): Promise<string> => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const night = await paper();
  const cloud = tab.locator("#scatter canvas");
  const before = await ink(cloud);
  await tab.getByRole("button", { name: "Switch to light colours" }).click();
  await settle(tab);
  expect(await paper()).not.toBe(night);
  expect((await ink(cloud)).hash).not.toBe(before.hash);
  await tab.getByRole("button", { name: "Switch to dark colours" }).click();
  await settle(tab);
  expect((await ink(cloud)).hash).toBe(before.hash);
});

test("prints in light colours, without its controls", async ({ page: tab }) => {
  await tab.emulateMedia({ colorScheme: "dark" });
  await open(tab, "demo");
  const file = await tab.pdf({ printBackground: true });
  expect(file.length).toBeGreaterThan(20_000);
  await tab.emulateMedia({ media: "print" });
  await expect(tab.locator(".top")).toBeHidden();
  await expect(tab.locator(".controls").first()).toBeHidden();
});

test("every control has a name", async ({ page: tab }) => {
  await open(tab, "demo");
  const nameless = await tab.locator("button, input, select, a, [role=application], [role=region], svg[role=img]").evaluateAll((elements) =>
    elements
      .filter((element) => {
        const label = element as HTMLInputElement;
        const by = element.getAttribute("aria-labelledby");
        const name =
          element.getAttribute("aria-label") ??
          (by ? document.getElementById(by)?.textContent : null) ??
          (label.labels?.length ? label.labels[0].textContent : element.textContent);
        return !name?.trim();
      })
      .map((element) => element.outerHTML.slice(0, 120)),
  );
  expect(nameless).toEqual([]);
});
