import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

/** Where `make run` listens; only the development server asks it, the built client asks where it came from. */
const server = process.env.SERVER_URL ?? "http://127.0.0.1:8080";
const proxy = {
  "/v1": { target: server },
  "/play": { target: server, ws: true },
};

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    // The page may run no script that stands in it, so the loader of modules is none either.
    modulePreload: { polyfill: false },
    rollupOptions: { input: { index: "index.html", cards: "cards.html" } },
  },
  server: { proxy },
  preview: { proxy },
  test: { include: ["tests/**/*.test.ts"] },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : {},
});
