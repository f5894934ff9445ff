// Remakes docs/images from the pages of Crabs and of layers. Run `npm test` first: it makes them.
import { chromium } from "@playwright/test";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? path("../../../target");
const images = path("../../../docs/images/");
mkdirSync(images, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** Saves the part of the page from the top of one element to the bottom of another. */
async function shoot(name, scheme, prepare, of = process.argv[2] ?? `${target}/pages/crabs.html`) {
  const context = await browser.newContext({ viewport: { width: 1180, height: 4600 }, colorScheme: scheme, reducedMotion: "reduce" });
  const tab = await context.newPage();
  await tab.goto(`file://${of}`);
  await tab.waitForTimeout(500);
  const [from, to] = await prepare(tab);
  await tab.waitForTimeout(300);
  const [top, bottom] = [await tab.locator(from).boundingBox(), await tab.locator(to).boundingBox()];
  const y = Math.max(0, top.y - 24);
  await tab.screenshot({ path: `${images}${name}.png`, fullPage: true, clip: { x: 0, y, width: 1180, height: bottom.y + bottom.height + 24 - y } });
  await context.close();
}

await shoot("page-light", "light", async () => ["#app > .top", "#groups .group-cards"]);
await shoot("page-dark", "dark", async (tab) => {
  // A group of crabs, brushed.
  const stage = tab.locator("#scatter .stage");
  await stage.scrollIntoViewIfNeeded();
  const box = await stage.boundingBox();
  await tab.mouse.move(box.x + 0.62 * box.width, box.y + 0.35 * box.height);
  await tab.mouse.down();
  await tab.mouse.move(box.x + 0.97 * box.width, box.y + 0.93 * box.height, { steps: 5 });
  await tab.mouse.up();
  await tab.mouse.move(5, 5);
  await tab.evaluate(() => {
    document.activeElement.blur();
    document.querySelector(".selection").style.visibility = "hidden";
  });
  return ["#scatter .stage", "#expert-1"];
});
await shoot("layers", "light", async () => ["#layers", "#layers"], `${target}/pages/layers.html`);
await browser.close();
