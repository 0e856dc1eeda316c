import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const page = (name: string): string => readFileSync(`${import.meta.dirname}/../${name}`, "utf8");

/** What the page allows, by directive. */
function policy(name: string): Record<string, string[]> {
  const text = /http-equiv="Content-Security-Policy"\s+content="([^"]*)"/.exec(page(name))?.[1] ?? "";
  return Object.fromEntries(text.split(";").map((part) => part.trim().split(/\s+/)).map(([directive, ...sources]) => [directive!, sources]));
}

it("the page may run its own scripts alone, and nothing that stands in it or comes from elsewhere", () => {
  const allowed = policy("index.html");
  expect(allowed["default-src"]).toEqual(["'none'"]);
  expect(allowed["script-src"]).toEqual(["'self'"]);
  expect(allowed["style-src"]).toEqual(["'self'"]);
  expect(allowed["connect-src"]).toEqual(["'self'"]);
  expect(allowed["base-uri"]).toEqual(["'none'"]);
  const sources = new Set(Object.values(allowed).flat());
  expect([...sources].filter((source) => !["'none'", "'self'", "data:", "blob:"].includes(source))).toEqual([]);
  expect(allowed["script-src"]).not.toContain("data:");
});

it.each(["index.html", "cards.html"])("no script and no style stands in %s", (name) => {
  expect(page(name)).not.toMatch(/<script(?![^>]*\ssrc=)/);
  expect(page(name)).not.toMatch(/<style|\sstyle=|\son\w+=/);
});

it("what a phone needs to install the client is there", () => {
  const manifest = JSON.parse(page("public/manifest.webmanifest")) as { start_url: string; display: string; icons: { src: string; sizes: string; purpose?: string }[] };
  expect([manifest.start_url, manifest.display]).toEqual(["/", "standalone"]);
  for (const { src, sizes } of manifest.icons.filter((icon) => icon.src.endsWith(".png"))) {
    // Width and height as a PNG begins with them.
    const bytes = readFileSync(`${import.meta.dirname}/../public${src}`);
    expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, src).toBe(sizes);
  }
  expect(manifest.icons.map((icon) => icon.sizes)).toEqual(expect.arrayContaining(["192x192", "512x512"]));
  expect(manifest.icons.some((icon) => icon.purpose === "maskable")).toBe(true);
});
