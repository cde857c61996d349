// SPDX-License-Identifier: MIT
//
// What every story of the page begins with: the page, the browser, the native tool.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";
import { tool } from "./page.mjs";

export const [posenc, chromium, screens] = process.argv.slice(2);
export const web = join(dirname(fileURLToPath(import.meta.url)), "..");
export const disk = pathToFileURL(join(web, "posenc.html")).href;
export const native = tool(posenc);
export const registry = JSON.parse(native(["list", "--json"]).text);
export const work = mkdtempSync(join(tmpdir(), "posenc-page-"));
export const browser = await launch(chromium);
export const tabs = ["explore", "tour", "model", "claims", "glossary"];
