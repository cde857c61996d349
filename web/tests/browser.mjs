// SPDX-License-Identifier: MIT
//
// A real browser: Chromium by Playwright where `npm ci` brought it, else over Chromium's own pipe (--remote-debugging-pipe),
// with the few calls of Playwright that the tests use, so that a machine without a registry tests the page too.
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars"];

// ---------------------------------------------------------------- Chromium's pipe: JSON, a 0 after each

class Pipe {
  constructor(child) {
    this.child = child;
    this.waiting = new Map();
    this.sessions = new Map();
    this.id = 0;
    let rest = "";
    child.stdio[4].setEncoding("utf8").on("data", (text) => {
      const messages = (rest + text).split("\0");
      rest = messages.pop();
      for (const m of messages) this.take(JSON.parse(m));
    });
  }
  take({ id, sessionId, method, params, result, error }) {
    if (id === undefined) return this.sessions.get(sessionId)?.(method, params);
    const { resolve, reject, what } = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) reject(new Error(`${what}: ${error.message}`));
    else resolve(result);
  }
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.id;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, what: method }));
  }
}

const keys = { Tab: 9, Enter: 13, Escape: 27, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, " ": 32 };

class Page extends EventEmitter {
  static async open(pipe, { viewport = { width: 1280, height: 800 }, colorScheme = "light", reducedMotion = "reduce" } = {}) {
    const page = new Page();
    const { targetId } = await pipe.send("Target.createTarget", { url: "about:blank", newWindow: true });
    const { sessionId } = await pipe.send("Target.attachToTarget", { targetId, flatten: true });
    page.send = (method, params) => pipe.send(method, params, sessionId);
    page.close = () => pipe.send("Target.closeTarget", { targetId });
    pipe.sessions.set(sessionId, (method, params) => page.event(method, params));
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, reducedMotion });
    page.keyboard = { press: (key) => page.press(key) };
    return page;
  }
  event(method, p) {
    if (method === "Runtime.consoleAPICalled")
      this.emit("console", { type: () => p.type, text: () => p.args.map((a) => a.value ?? a.description).join(" ") });
    if (method === "Log.entryAdded") this.emit("console", { type: () => p.entry.level, text: () => p.entry.text });
    if (method === "Runtime.exceptionThrown") this.emit("pageerror", new Error(p.exceptionDetails.exception?.description ?? p.exceptionDetails.text));
    if (method === "Network.requestWillBeSent") this.emit("request", { url: () => p.request.url });
    if (method === "Page.loadEventFired") this.emit("load");
  }
  async goto(url) {
    const loaded = new Promise((resolve) => this.once("load", resolve));
    const { errorText, loaderId } = await this.send("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    if (loaderId) await loaded; // none: the same page, another fragment
  }
  async evaluate(f, arg = null) {
    const expression = typeof f === "string" ? f : `(${f})(${JSON.stringify(arg)})`;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  setViewportSize({ width, height }) {
    return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }
  emulateMedia({ colorScheme, reducedMotion = "reduce" }) {
    return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: colorScheme }, { name: "prefers-reduced-motion", value: reducedMotion }] });
  }
  async press(combined) {
    const shift = combined.startsWith("Shift+"), key = combined.replace("Shift+", "");
    const event = { key, code: key === " " ? "Space" : key, windowsVirtualKeyCode: keys[key], modifiers: shift ? 8 : 0 };
    await this.send("Input.dispatchKeyEvent", { type: key === "Enter" ? "keyDown" : "rawKeyDown", ...event, ...(key === "Enter" ? { text: "\r" } : {}) });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
  }
  async screenshot({ path }) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    writeFileSync(path, Buffer.from(data, "base64"));
  }
}

async function launchPipe(executablePath) {
  const folder = mkdtempSync(join(tmpdir(), "posenc-browser-"));
  const child = spawn(executablePath, [...flags, "--headless=new", "--remote-debugging-pipe", "--no-first-run", `--user-data-dir=${folder}`, "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const pipe = new Pipe(child), ended = new Promise((resolve) => child.once("exit", resolve));
  const { product } = await Promise.race([pipe.send("Browser.getVersion"), ended.then(() => { throw new Error(`${executablePath} ended at once`); })]);
  return {
    by: `${product}, over its pipe`,
    newPage: (options) => Page.open(pipe, options),
    async close() {
      pipe.send("Browser.close").catch(() => {});
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// ---------------------------------------------------------------- the door

/** newPage({ viewport, colorScheme }) has goto, evaluate, keyboard.press, setViewportSize, emulateMedia, screenshot, on, close;
 *  and send, for what Chromium alone knows. */
export async function launch(executablePath) {
  const playwright = process.env.POSENC_NO_PLAYWRIGHT ? null : await import("playwright-core").catch(() => null);
  if (!playwright) return launchPipe(executablePath);
  const browser = await playwright.chromium.launch({ executablePath, args: flags });
  return {
    by: `Chromium ${browser.version()}, by Playwright`,
    async newPage(options) {
      const page = await browser.newPage({ reducedMotion: "reduce", ...options }), session = await page.context().newCDPSession(page);
      page.send = (method, params) => session.send(method, params);
      return page;
    },
    close: () => browser.close(),
  };
}
