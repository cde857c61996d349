// SPDX-License-Identifier: MIT
//
// What every story of the page begins with: the page, the browser, the native tool.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser.mjs";
import { tool } from "./page.mjs";
import { nativeTool, sharedRegistry, wasmTool } from "./tools.mjs";

export const [posenc, chromium, screens] = process.argv.slice(2);
export const web = join(dirname(fileURLToPath(import.meta.url)), "..");
export const disk = pathToFileURL(join(web, "posenc.html")).href;
export const native = tool(posenc);
export const work = mkdtempSync(join(tmpdir(), "posenc-page-"));
export const registry = sharedRegistry(wasmTool(join(web, "posenc.html"), work), nativeTool(posenc, work), "web/posenc.html");
export const browser = await launch(chromium);
export const tabs = ["explore", "tour", "model", "claims", "glossary"];
