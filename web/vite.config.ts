import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Where `make run` listens; only the development server asks it, the built client asks where it came from. */
const server = process.env.SERVER_URL ?? "http://127.0.0.1:8080";
const proxy = {
  "/v1": { target: server },
  "/play": { target: server, ws: true },
};

/** What a first visit loads, packed, without the deck. */
const FIRST_VISIT_BYTES_MAX = 150_000;

/** A build that has grown too large fails. */
function budget(): Plugin {
  return {
    name: "budget",
    generateBundle(_options, bundle) {
      const needed = new Set<string>();
      const need = (name: string): void => {
        const chunk = bundle[name];
        if (chunk?.type !== "chunk" || needed.has(name)) return;
        needed.add(name);
        chunk.imports.forEach(need);
      };
      need(Object.values(bundle).find((item) => item.type === "chunk" && item.name === "index" && item.isEntry)?.fileName ?? "");
      const contents = Object.values(bundle).flatMap((item) => {
        if (item.type === "chunk") return needed.has(item.fileName) ? [item.code] : [];
        return item.fileName.endsWith(".css") ? [item.source] : [];
      });
      const bytes = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
      if (needed.size === 0) this.error("no entry is called index");
      if (bytes > FIRST_VISIT_BYTES_MAX) this.error(`a first visit loads ${bytes} bytes, ${FIRST_VISIT_BYTES_MAX} at most`);
      this.info(`a first visit loads ${bytes} bytes without the deck`);
    },
  };
}

/** A name for what is built from these sources. */
function buildName(): string {
  const hash = createHash("sha256");
  const files = ["src", "public"].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`));
  for (const path of [...files, "index.html", "package-lock.json"].sort()) {
    if (statSync(path).isFile()) hash.update(`${path}\n`).update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 12);
}

/** The service worker is told which files belong to the build: all but the page itself and the one that shows decks. */
function shellFiles(): Plugin {
  return {
    name: "shell-files",
    enforce: "post",
    generateBundle(_options, bundle) {
      const worker = bundle["worker.js"];
      if (worker?.type !== "chunk") return this.error("no service worker was built");
      const alone = new Set(["index.html", "cards.html", worker.fileName, ...Object.values(bundle).flatMap((item) => (item.type === "chunk" && item.name === "cards" ? [item.fileName] : []))]);
      const built = Object.keys(bundle).filter((name) => !alone.has(name));
      const paths = [...built, ...readdirSync("public")].map((name) => `/${name}`).sort();
      worker.code = worker.code.replace(/\bSHELL_FILES\b/g, JSON.stringify(paths));
      if (worker.imports.length > 0) this.error("the service worker must be one file");
    },
  };
}

export default defineConfig({
  plugins: [svelte(), shellFiles(), budget()],
  define: { BUILD: JSON.stringify(buildName()) },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    // The page may run no script that stands in it, so the loader of modules is none either.
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: { index: "index.html", cards: "cards.html", worker: "src/shell/worker.ts" },
      // A service worker has power over the folder in which it lies, and the same address always.
      output: { entryFileNames: ({ name }) => (name === "worker" ? "worker.js" : "assets/[name]-[hash].js") },
    },
  },
  server: { proxy },
  preview: { proxy },
  test: { include: ["tests/**/*.test.ts"] },
  resolve: process.env.VITEST ? { conditions: ["browser"] } : {},
});
