// SPDX-License-Identifier: MIT
//
// What every story of the page begins with: the page, Chromium driven by Playwright, the native tool.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { nativeTool, sharedRegistry, wasmTool } from "./tools.mjs";

export const [posenc, executablePath, screens] = process.argv.slice(2);
export const web = join(dirname(fileURLToPath(import.meta.url)), "..");
export const disk = pathToFileURL(join(web, "posenc.html")).href;
export const lab = `${disk}#a=rope`;
export const work = mkdtempSync(join(tmpdir(), "posenc-page-"));
const tool = nativeTool(posenc, work);
export const registry = sharedRegistry(wasmTool(join(web, "posenc.html"), work), tool, "web/posenc.html");
export const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars"] });
export const tabs = ["story", "explore", "sheet", "model", "claims", "glossary"];

/** The native tool's answer to a command. */
export function native(args) {
  const { code, out, err } = tool.run(args);
  return { code, text: out.toString(), err };
}
