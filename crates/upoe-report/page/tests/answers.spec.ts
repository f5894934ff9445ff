// The answers: findings, odd rows, missing cells, single values, what a selection differs in.

import { between } from "../src/axes";
import { agreed, codes, expect, floats, open, settle, test, unfold } from "./support";

const plain = (text: string | null): string => (text ?? "").replace(/−/g, "-").replace(/\u00a0/g, " ");

test("findings come first, settings are folded away", async ({ page: tab }) => {
  for (const name of ["demo", "gaussian", "heavy", "wide", "missing", "layers"] as const) {
    const page = await open(tab, name);
    const said = (await tab.locator(".findings li").allTextContents()).map(plain);
    expect(said).toEqual(page.summary.findings.map((text) => text.replace(/`/g, "")));
    expect(said.length).toBeGreaterThan(0);
    expect(said.length).toBeLessThanOrEqual(4);
    await expect(tab.locator("#summary .facts")).toBeHidden();
    await tab.locator("#summary details > summary").click();
    await expect(tab.locator("#summary .facts")).toBeVisible();
    await expect(tab.locator("#summary .columns")).not.toContainText("gains –");
  }
});

test("odd rows have the words and numbers of the detector", async ({ page: tab }) => {
  for (const name of ["demo", "heavy", "large", "missing"] as const) {
    const page = await open(tab, name);
    const { rows, words, note } = page.outliers;
    await expect(tab.locator("#outliers .verdict")).toHaveText(`${words}.`);
    if (note) await expect(tab.locator("#outliers")).toContainText(note);
    const cards = tab.locator(".outlier");
    await expect(cards).toHaveCount(rows.length);
    const odd = rows.filter(({ judgement }) => judgement!.odd);
    expect(rows.slice(0, odd.length)).toEqual(odd);
    if (odd.length < rows.length) await expect(tab.locator("#outliers .others").last()).toContainText("Not odd");
    for (const [k, { number, judgement }] of rows.entries()) {
      await expect(cards.nth(k).locator("h3")).toHaveText(`Row ${number}`);
      expect((await cards.nth(k).locator(".odd li").allTextContents()).map(plain)).toEqual(judgement!.reasons);
      expect(plain(await cards.nth(k).locator(".why").textContent()).toLowerCase()).toContain(judgement!.by_chance);
      expect(judgement!.odd).toBe(judgement!.p_value <= 0.01);
    }
  }
});

test("labels carry the names of their columns", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  const chips = await tab.locator(".outlier").first().locator(".chip").allTextContents();
  expect(chips.map((text) => text.split(": ")[0])).toEqual([expect.stringMatching(/^(species|sp)$/), "sex"]);
  expect(["blue", "orange", "B", "O"]).toContain(chips[0].split(": ")[1]);
  expect(page.outliers.rows.length).toBeGreaterThan(0);
});

test("missing cells are counted and filled in", async ({ page: tab }) => {
  const page = await open(tab, "missing");
  const { columns, filled, rows } = page.missing!;
  await expect(tab.locator(".figure", { hasText: "missing cells" })).toContainText(`in ${rows} rows`);
  const bars = tab.locator("#missing .weights-chart .bar");
  await expect(bars).toHaveCount(columns.length);
  for (const [k, { name, share }] of columns.entries()) {
    await expect(bars.nth(k)).toContainText(name);
    await expect(bars.nth(k).locator(".value")).toHaveText((100 * share).toFixed(1));
  }
  const lines = tab.locator("#missing .filled tbody tr");
  await expect(lines).toHaveCount(filled.length);
  const number = codes(page.rows.number);
  for (const [k, { position, cells }] of filled.entries()) {
    const text = plain(await lines.nth(k).textContent());
    expect(text.startsWith(String(number[position]))).toBe(true);
    for (const { words } of cells) expect(text).toContain(words.replace(" missing, expected", ""));
    expect(floats(page.rows.projections[0])[position]).not.toBeNaN();
  }
  await open(tab, "demo");
  await expect(tab.locator("#missing")).toHaveCount(0);
});

test("the density of a value follows the row and the column", async ({ page: tab }) => {
  const page = await open(tab, "missing");
  for (const [section, rows] of [["#outliers", page.outliers.rows], ["#missing", page.missing!.filled]] as const) {
    const part = tab.locator(`${section} .one-value`);
    const stage = part.locator(".conditional .stage svg");
    for (const row of [rows[0], rows[rows.length - 1]]) {
      await part.getByLabel("Row").selectOption(String(row.position));
      for (const cell of row.cells) {
        await part.getByLabel("Column").selectOption(String(cell.column));
        await settle(tab);
        expect(plain(await part.locator(".with-controls p").first().textContent())).toContain(cell.words);
        await expect(stage.locator(".at.observed")).toHaveCount(cell.observed === null || cell.observed < cell.from || cell.observed > cell.to ? 0 : 1);
        await expect(stage.locator(".at-label.observed")).toHaveCount(cell.observed === null ? 0 : 1);
        // The curve is highest where the heights are.
        const heights = [...codes(cell.curve)];
        expect(Math.max(...heights)).toBe(255);
        const points = (await stage.locator(".fitted").getAttribute("d"))!.slice(1).split("L").map((at) => at.split(",").map(Number));
        expect(points.length).toBe(heights.length);
        const top = points.reduce((best, [, y], at) => (y < points[best][1] ? at : best), 0);
        expect(heights[top]).toBe(255);
        // The interval that is shaded lies around the expected value.
        expect(cell.low!).toBeLessThanOrEqual(cell.expected!);
        expect(cell.high!).toBeGreaterThanOrEqual(cell.expected!);
      }
    }
  }
});

test("the scatter plot begins with the axes that tell groups apart", async ({ page: tab }) => {
  const page = await open(tab, "large");
  const labels = codes(page.groups!.labels);
  const shares = page.rows.projections.map((packed) => between(floats(packed), labels));
  const best = shares.indexOf(Math.max(...shares));
  const axes = await tab.locator("#scatter select").evaluateAll((all) => all.slice(0, 2).map((select) => (select as HTMLSelectElement).value));
  expect(axes).toContain(`z${best}`);
  expect(axes[0]).not.toBe(axes[1]);
  // Along the others they hardly differ.
  expect(shares[best]).toBeGreaterThan(0.3);
  expect(between([1, 1, 3, 3, NaN], [0, 0, 1, 1, 1])).toBe(1);
  expect(between([1e9, 1e9 + 2, 1e9, 1e9 + 2], [0, 0, 1, 1])).toBeCloseTo(0, 9);
});

test("ids are not colours, numbers have a colour bar, levels are sorted", async ({ page: tab }) => {
  await open(tab, "wide");
  const colour = tab.locator("#scatter").getByLabel("Colour by");
  const offered = await colour.locator("option").allTextContents();
  expect(offered).toContain("dose");
  expect(offered).not.toContain("id");
  await colour.selectOption({ label: "dose" });
  await settle(tab);
  const legend = tab.locator("#scatter .legend");
  expect(await legend.locator("rect").count()).toBeGreaterThan(20);
  await expect(legend).not.toContainText("others");
  await open(tab, "hostile");
  await tab.locator("#scatter").getByLabel("Colour by").selectOption("c0");
  await settle(tab);
  const texts = await tab.locator("#scatter .legend text").allTextContents();
  const levels = texts.filter((text) => /^\d/.test(text)).map((text) => text[0]);
  expect(levels).toEqual(["0", "1", "2"]);
  const shapes = await tab.locator("#scatter .legend").evaluate((group) => [...group.children].filter(({ localName }) => localName !== "text").map((mark) => mark.localName + (mark.getAttribute("d") ?? "").replace(/[-\d.,]+/g, "")));
  expect(new Set(shapes).size).toBe(3);
});

test("many rows have shapes, too", async ({ page: tab }) => {
  const page = await open(tab, "large");
  expect(floats(page.rows.log_density).length).toBe(50_000);
  const marks = await tab.locator("#scatter .legend").evaluate((group) => [...group.children].map(({ localName }) => localName));
  expect(marks).toContain("circle");
  expect(marks).toContain("path");
});

test("what the selected rows differ in", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  await expect(tab.locator(".differ")).toBeHidden();
  await tab.getByLabel("Row numbers").fill("1-50");
  await tab.getByLabel("Row numbers").press("Enter");
  await settle(tab);
  expect(await agreed(tab, page)).toBe(50);
  const bars = tab.locator(".differ .bar");
  await expect(bars).toHaveCount(5);
  const column = page.rows.columns.findIndex(({ name }) => name === "FL");
  const values = page.rows.columns[column].values;
  if (values.type !== "number") throw new Error("FL is a number");
  const all = floats(values.values);
  const mean = (rows: Float32Array): number => rows.reduce((sum, value) => sum + value, 0) / rows.length;
  const [inside, outside] = [mean(all.slice(0, 50)), mean(all.slice(50))];
  const deviation = Math.sqrt(mean(all.map((value) => (value - mean(all)) ** 2)));
  const shown = plain(await bars.filter({ hasText: "FL" }).locator(".value").textContent());
  expect(Number(shown)).toBeCloseTo((inside - outside) / deviation, 2);
  // The first 50 crabs are blue males.
  await expect(tab.locator(".differ li")).toContainText([
    /(species is blue|sp is B) in 100\u00a0% of them, and in 50\u00a0% of all rows\./,
    /sex is (male|M) in 100\u00a0% of them, and in 50\u00a0% of all rows\./,
  ]);
  await tab.getByRole("button", { name: "Clear" }).click();
  await settle(tab);
  await expect(tab.locator(".differ")).toBeHidden();
});

test("correlations come first, then patterns, then filters; the Q–Q plot is called that", async ({ page: tab }) => {
  const page = await open(tab, "demo");
  const part = tab.locator("#expert-1 .weights");
  expect(await part.locator("label").allTextContents()).toEqual(["Correlation", "Pattern", "Filter"]);
  const correlation = floats(page.experts[0].correlation);
  const [first] = [...correlation].sort((a, b) => Math.abs(b) - Math.abs(a));
  expect(Number(plain(await part.locator(".bar .value").first().textContent()))).toBeCloseTo(first, 2);
  await expect(tab.locator("#expert-1 .qq .title")).toContainText("Q–Q plot");
  await expect(tab.locator("#gain")).toContainText(page.path.sum!);
});

test("numbers have commas between thousands everywhere", async ({ page: tab }) => {
  await open(tab, "large");
  await unfold(tab);
  const text = (await tab.locator("#app").textContent())!;
  expect(text).toContain("60,000");
  expect(text.match(/\d[\u202f\u2009]\d{3}/g)).toBeNull();
});
