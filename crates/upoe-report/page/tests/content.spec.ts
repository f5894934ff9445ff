// Hostile text stays text, explanations add up, the words follow the glossary, pictures can be saved.

import { readFileSync } from "node:fs";
import { exact, show, ticks, whole, withDecimals } from "../src/number";
import { agreed, expect, floats, open, settle, test, unfold } from "./support";

test("hostile names and cells are shown as text", async ({ page: tab }) => {
  const page = await open(tab, "hostile");
  const hostile = page.title;
  expect(hostile).toContain("</script><img src=x onerror=");
  await expect(tab.locator("h1")).toHaveText(hostile);
  expect(await tab.title()).toContain("</script><img");
  await tab.locator(".show").getByText("Both", { exact: true }).click();
  await tab.getByLabel("Row numbers").fill("1-60");
  await tab.getByLabel("Row numbers").press("Enter");
  await settle(tab);
  for (const value of await tab.locator("#scatter select").first().locator("option").evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value)))
    await tab.locator("#scatter select").first().selectOption(value);
  await tab.locator("#scatter .stage").focus();
  await tab.keyboard.press("ArrowRight");
  await settle(tab);
  await expect(tab.locator("#rows thead")).toContainText("<img src=x onerror=");
  await expect(tab.locator("#rows tbody tr").first()).toContainText("<img src=x onerror=");
  await expect(tab.locator("#experts desc").filter({ hasText: "<img src=x onerror=" }).first()).toBeAttached();
  await expect(tab.locator(".notices")).toContainText("<img src=x onerror=");
  await expect(tab.locator(".tip")).toContainText("<img src=x");
  expect(await tab.locator("img, script:not([type]) ~ script, [onerror]").count()).toBe(0);
  expect(await tab.locator("script").count()).toBe(2);
  expect(await tab.evaluate(() => (window as unknown as { hacked?: number }).hacked)).toBeUndefined();

  const download = tab.waitForEvent("download");
  await tab.locator("#expert-1 .weights").getByRole("button", { name: /as SVG/ }).click();
  const text = readFileSync((await (await download).path())!, "utf8");
  const tags = await tab.evaluate((svg) => {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml");
    return [...parsed.querySelectorAll("*")].map((element) => element.localName);
  }, text);
  expect(tags[0]).toBe("svg");
  expect(tags).not.toContain("img");
  expect(tags).not.toContain("parsererror");
});

test("explanations of outliers add up", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  for (const outlier of page.outliers.rows) {
    const parts = [...outlier.experts, outlier.rest].reduce<number>((sum, value) => sum + (value ?? NaN), 0);
    const close = 1e-6 * Math.max(1, Math.abs(outlier.log_density!));
    expect(Math.abs(outlier.baseline! + parts - outlier.log_density!)).toBeLessThan(close);
    const columns = floats(outlier.columns).reduce((sum, value) => sum + value, 0);
    expect(Math.abs(columns - parts)).toBeLessThan(1e-4 * Math.max(1, Math.abs(parts)));
  }
  const card = tab.locator(".outlier").first();
  await card.locator("summary").click();
  const bars = card.locator("figure").first().locator(".bar.pressable");
  test.skip((await bars.count()) === 0, "no split");
  const shown = (): Promise<string[]> => card.locator("figure").last().locator(".bar .value").allTextContents();
  const whole = await shown();
  await bars.first().click();
  expect(await shown()).not.toEqual(whole);
  const first = (await shown()).map((text) => Number(text.replace("−", "-").replace(/[+±]/, "")));
  const sum = first.reduce((total, value) => total + value, 0);
  expect(Math.abs(sum - (page.outliers.rows[0].experts[0] ?? page.outliers.rows[0].rest ?? NaN))).toBeLessThan(0.006 * first.length);
  await card.locator("figure").first().locator(".bar.pressable").first().click();
  expect(await shown()).toEqual(whole);
});

test("values have commas between thousands from five digits on, counts from four", () => {
  expect([31061, -1234567, 2023, 0.123456, 10000].map((value) => show(value))).toEqual(["31,061", "−1,234,567", "2023", "0.1235", "10,000"]);
  expect([exact(12345.6, 6), exact(12345, 4), withDecimals(45678.123456, 5), whole(1500)]).toEqual(["12,345.6", "12,345", "45,678.12346", "1,500"]);
  expect(ticks([0, 40000], 4).map(({ label }) => label)).toContain("20,000");
});

for (const name of ["wide", "large", "demo"] as const)
  test(`${name}: no label of a picture is clipped`, async ({ page: tab }) => {
    await open(tab, name);
    await unfold(tab);
    for (const width of [1280, 390]) {
      await tab.setViewportSize({ width, height: 900 });
      await settle(tab);
      const clipped = await tab.locator("figure.picture svg text").evaluateAll((texts) =>
        texts.flatMap((text) => {
          const [own, all] = [text.getBoundingClientRect(), text.closest("svg")!.getBoundingClientRect()];
          return own.width && (own.left < all.left - 1 || own.right > all.right + 1) ? [`${text.textContent}: ${own.left - all.left} to ${own.right - all.left} of ${all.width}`] : [];
        }),
      );
      expect(clipped, `at ${width}`).toEqual([]);
    }
  });

test("odd rows that chance explains are said to be no more than that", async ({ page: tab }) => {
  const page = await open(tab, "gaussian");
  const [, odd, chance] = page.outliers.words.match(/^([\d,]+) of .* about ([\d,.]+)$/)!.map((text) => Number(text.replaceAll(",", "")));
  expect(odd).toBeLessThanOrEqual(chance);
  await expect(tab.locator("#outliers h3.others").first()).toContainText("no more than chance gives");
});

test("filters are sorted by size", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  test.skip(!page.experts.length, "no expert");
  const values = (await tab.locator("#expert-1 .weights .bar .value").allTextContents()).map((text) => Math.abs(Number(text.replace("−", "-").replace(/[+±]/, ""))));
  expect(values.length).toBeGreaterThan(1);
  expect(values).toEqual([...values].sort((a, b) => b - a));
});

test("the page shows gains and uses the glossary's words", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  for (const [k, expert] of page.experts.entries()) {
    const text = (await tab.locator(`#expert-${k + 1} .facts dd`).first().textContent())!;
    expect(text).toMatch(/^\d+\.\d+ nats per row$/);
    expect(Math.abs(Number.parseFloat(text) - expert.gain!)).toBeLessThan(0.005 * Math.abs(expert.gain!));
  }
  const hints = await tab.locator("[title], [aria-label]").evaluateAll((all) => all.map((one) => `${one.getAttribute("title")} ${one.getAttribute("aria-label")}`));
  const shown = `${await tab.locator("#app").textContent()} ${hints.join(" ")}`;
  expect(shown.replaceAll("Q–Q plot", "").match(/\bQ\b|loadings|\bkind\b|\bheld(?![ -]out)|\b(nats|ln p of) a row/gi)).toBeNull();
});

test("a density of zero is minus infinity, not unknown", async ({ page: tab }) => {
  const page = await open(tab, "degenerate");
  const [first, second] = page.outliers.rows;
  expect(first.log_density).toBe(-Infinity);
  expect(Number.isFinite(second.log_density)).toBe(true);
  const card = tab.locator(".outlier").first();
  await card.locator("summary").click();
  await expect(card).toContainText("ln p = −∞");
  await expect(card).toContainText("leaves the subspace");
  await card.getByRole("button", { name: "Select" }).click();
  await settle(tab);
  expect(await agreed(tab, page)).toBe(1);
  await expect(tab.locator("#rows tbody tr td:nth-child(2)")).toHaveText("−∞");
  await tab.locator("#scatter").getByLabel("Horizontal axis").selectOption("lnp");
  await settle(tab);
  await expect(tab.locator("#scatter .beyond")).toContainText("1 row outside");
});

for (const name of ["demo", "image"] as const)
  test(`${name}: every kind of picture saves as SVG and PNG`, async ({ page: tab }) => {
    await open(tab, name);
    await unfold(tab);
    const pixels = ["#expert-1 .weights figure", ".outlier .pair figure >> nth=1"];
    const all = ["#gain figure", "#expert-1 .histogram", "#expert-1 .weights figure", "#expert-1 .qq", "#scatter figure", "#tour figure", "#outliers .histogram", ".outlier figure >> nth=0"];
    const pictures = name === "image" ? pixels : all;
    for (const selector of pictures) {
      const figure = tab.locator(selector).first();
      let download = tab.waitForEvent("download");
      await figure.getByRole("button", { name: /as SVG/ }).click();
      const svg = readFileSync((await (await download).path())!, "utf8");
      expect(svg.startsWith("<svg")).toBe(true);
      expect(svg).not.toContain("var(--");
      const problems = await tab.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("parsererror").length, svg);
      expect(problems).toBe(0);
      download = tab.waitForEvent("download");
      await figure.getByRole("button", { name: /as PNG/ }).click();
      const png = readFileSync((await (await download).path())!);
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect(png.length).toBeGreaterThan(500);
    }
  });

test("layers show what they add, and an outlier's parts add up over them", async ({ page: tab }) => {
  const page = await open(tab, "layers");
  const all = page.layers!;
  expect(all.layers.length).toBeGreaterThan(1);
  expect(all.layers.some(({ radial }) => radial !== null)).toBe(true);
  await expect(tab.locator("#layers table.layers tbody tr")).toHaveCount(all.layers.length);
  await expect(tab.locator("#layers .histogram")).toHaveCount(all.layers.filter(({ radial }) => radial).length);
  await expect(tab.locator("#layers")).toContainText("times as far out as the middle row");
  await expect(tab.locator("#layers")).toContainText("The pool");
  const members = (await tab.locator("#layers table.members tbody tr").allTextContents()).map((text) => text.replace(/\u00a0/g, " "));
  expect(members).toEqual(all.members.map(({ share, words }) => `${(100 * share).toFixed(0)} %${words}`));
  const shares = all.members.reduce((sum, { share }) => sum + share, 0);
  expect(shares).toBeCloseTo(1, 9);
  for (const outlier of page.outliers.rows) {
    expect(outlier.experts.length).toBe(page.outliers.parts.length);
    const sum = outlier.experts.reduce<number>((total, value) => total + (value ?? NaN), (outlier.baseline ?? NaN) + (outlier.rest ?? NaN));
    expect(sum).toBeCloseTo(outlier.log_density ?? NaN, 6);
  }
  await expect(tab.locator(".outlier").first()).toContainText("times as far out as usual, in every direction");
});

test("names in notices are set as code, without backticks", async ({ page: tab }) => {
  await open(tab, "large");
  await expect(tab.locator(".notices code")).toHaveText(["run"]);
  await expect(tab.locator(".notices")).not.toContainText("`");
});
