// Builds src/ into ../assets: one script, one style sheet, and their hashes, by which
// the page's Content-Security-Policy admits them.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const assets = new URL("../assets/", import.meta.url);
await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { page: "src/main.ts" },
  outdir: assets.pathname,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: ["es2022"],
  format: "iife",
  legalComments: "none",
  logLevel: "warning",
});

const hashes = ["page.js", "page.css"].map((name) => {
  const file = new URL(name, assets);
  const text = readFileSync(file, "utf8").trimEnd();
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error(`${name} contains text that would end its HTML element`);
  writeFileSync(file, text);
  console.log(`${name} ${(Buffer.byteLength(text) / 1024).toFixed(1)} KB`);
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'\n`;
});
writeFileSync(new URL("hashes.txt", assets), hashes.join(""));
