// Builds src/ into ../assets: one script, one style sheet, and their hashes, by which
// the page's Content-Security-Policy admits them.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

const assets = new URL("../assets/", import.meta.url);

/** The words that src/ explains, term("word"), as docs/glossary.md has them. */
function glossary() {
  const lines = readFileSync(new URL("../../../docs/glossary.md", import.meta.url), "utf8").split("\n");
  const means = new Map();
  for (const line of lines) {
    const [, word, meaning] = line.match(/^\| \*\*([^*]+)\*\*[^|]*\| ([^|]+) \|/) ?? [];
    if (word) means.set(word, meaning.replace(/[*`]/g, ""));
  }
  const source = new URL("src/", import.meta.url);
  const used = readdirSync(source).flatMap((name) => [...readFileSync(new URL(name, source), "utf8").matchAll(/\bterm\("([^"]+)"/g)].map(([, word]) => word));
  return Object.fromEntries(
    [...new Set(used)].sort().map((word) => {
      if (!means.has(word)) throw new Error(`docs/glossary.md does not explain “${word}”`);
      return [word, means.get(word)];
    }),
  );
}

await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: { page: "src/main.ts" },
  outdir: assets.pathname,
  bundle: true,
  minify: true,
  charset: "utf8",
  target: ["es2022"],
  format: "iife",
  define: { GLOSSARY: JSON.stringify(glossary()) },
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
