// SPDX-License-Identifier: MIT
//
// What the tests of the page share: a page that is watched, small movements of a user, and the account of what passed.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";

// ---------------------------------------------------------------- the account

export const account = { passed: 0, failed: 0, skipped: 0 };

const claims = [];

/** A claim and its proof, which may say a number worth knowing. ONLY=words in the environment: only claims with these. */
export function check(claim, proof) {
  if (claim.includes(process.env.ONLY ?? "")) claims.push({ claim, proof });
}

async function prove({ claim, proof }) {
  try {
    const note = await proof();
    account.passed++;
    if (note) console.log(`${claim}: ${note}`);
  } catch (why) {
    account.failed++;
    console.log(`FAILED: ${claim}: ${why.message.split("\n").slice(0, 12).join("\n")}`);
  }
}

/** Several at a time: most of a test of a page is waiting. */
export async function proveAll(workers) {
  await Promise.all(Array.from({ length: workers }, async () => {
    for (let next = claims.shift(); next; next = claims.shift()) await prove(next);
  }));
}

export function that(fine, text) {
  if (!fine) throw new Error(text);
}

export function skip(why) {
  account.skipped++;
  console.log(`SKIP: ${why}`);
}

// ---------------------------------------------------------------- a page that is watched

const hangs = 600_000; // milliseconds after which a page hangs: a busy machine takes some minutes

/** Every message of the console and every request is kept; trouble(page) is what should not have been. */
export async function open(browser, url, options = {}) {
  const page = await browser.newPage({ reducedMotion: "reduce", ...options });
  const own = url.startsWith("file:") ? [url.replace(/#.*/, "")] : ["", "page.js", "page.css", "posenc.wasm", "claims.en.json", "claims.zh.json", "properties.json", "race.json", "models.json", "text.txt", ...["alibi", "learned", "none", "rope", "sinusoidal", "t5"].map((n) => `${n}-1.safetensors`)].map((f) => new URL(f, url).href);
  page.setDefaultTimeout(hangs);
  page.troubles = [];
  page.on("console", (m) => ["error", "warning", "warn", "assert"].includes(m.type()) && page.troubles.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => page.troubles.push(`exception: ${e.message}`));
  page.on("request", (r) => {
    const to = r.url();
    if (!own.includes(to.replace(/#.*/, "")) && !to.startsWith("data:") && !to.startsWith("blob:")) page.troubles.push(`a request left: ${to}`);
  });
  await page.addInitScript(settled, hangs);
  await page.goto(url);
  const said = await until(page, () => document.querySelector("[role=alert]")?.textContent ?? (document.documentElement.dataset.ready === undefined ? "" : " "));
  that(said === " ", said);
  await settle(page);
  return page;
}

export function calm(page) {
  const [first] = page.troubles;
  page.troubles = [];
  that(!first, first);
}

/** What f returns in the page, asked in every frame until it is true. */
export async function until(page, f, arg) {
  const got = await page.waitForFunction(f, arg, { timeout: hangs }).catch((why) => that(false, `waited for ${f}: ${why.message}`));
  return got.jsonValue();
}

/** In the page: waits for two frames in a row in which nothing is left to draw, by the attribute that the page sets. A second
 *  frame brings what scrolled into view. all: no timer or measurement of the page is left either. */
function settled(hangs) {
  window.empty = (output) => !output.textContent && !output.querySelector("svg");
  window.settled = async (all) => {
    const { dataset } = document.documentElement, end = performance.now() + hangs;
    for (let still = 0; still < 2;) {
      await new Promise((done) => requestAnimationFrame(done));
      still = "drawing" in dataset || (all && "waiting" in dataset) ? 0 : still + 1;
      if (performance.now() > end) throw new Error(`the page is not done: ${JSON.stringify(dataset)}`);
    }
  };
  /* A busy machine says late that something is in sight. */
  window.filled = async (output) => {
    const end = performance.now() + hangs;
    do await window.settled(true);
    while (window.empty(output) && performance.now() < end);
  };
}

export function settle(page, what = "") {
  return page.evaluate((all) => window.settled(all), what === "all");
}

let followed = 0;

/** A number behind the link makes it another one than where the page is, which may not have written its own yet. */
export async function follow(page, link) {
  await page.evaluate((link) => new Promise((done) => {
    addEventListener("hashchange", () => done(null), { once: true });
    location.hash = link;
  }), `${link}&test=${++followed}`);
  await settle(page);
}

/** In the page: sets a control as a user would, and says what it was. */
export function turnControl({ selector, index, value }) {
  const all = [...document.querySelectorAll(selector)].filter((e) => e.offsetParent !== null);
  const control = all[index];
  if (!control) return null;
  if (control.type === "checkbox") control.checked = value;
  else control.value = value;
  control.dispatchEvent(new Event("input", { bubbles: true }));
  control.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

// ---------------------------------------------------------------- a server

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png" };

/** The files of a folder, on a port of this machine; change(name, bytes) may give others, or null: there is none. */
export async function serve(folder, change = (_, bytes) => bytes) {
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://x").pathname.replace(/\/$/, "/index.html");
    try {
      const bytes = change(name, readFileSync(join(folder, name.replaceAll("..", ""))));
      if (!bytes) throw new Error(name);
      response.writeHead(200, { "content-type": types[extname(name)] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}
