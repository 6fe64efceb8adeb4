import { defineConfig } from "vitest/config";

// Relative addresses everywhere, so that the page works under any sub-path. No source maps and no dates: two builds of
// the same sources give the same bytes, which is what lets the built page be committed and checked.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
  },
  server: { host: "127.0.0.1", proxy: { "/api": process.env["KC_API"] ?? "http://127.0.0.1:8080" } },
  test: { include: ["tests/**/*.test.ts"] },
});
