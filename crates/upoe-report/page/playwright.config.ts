import { defineConfig } from "@playwright/test";

const target = process.env.CARGO_TARGET_DIR ?? new URL("../../../target", import.meta.url).pathname;

export default defineConfig({
  testDir: "tests",
  outputDir: `${target}/page-tests`,
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  reporter: [["list"]],
  use: {
    viewport: { width: 1280, height: 900 },
    offline: true,
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync",
      ],
    },
  },
});
