// SPDX-License-Identifier: MIT
//
// Firefox as it is installed, by its own protocol (Marionette: JSON with its length in front, on a port of this machine).
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

function freePort() {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => { const { port } = server.address(); server.close(() => done(port)); });
  });
}

async function reach(port) {
  for (let tries = 0; tries < 300; tries++) {
    const socket = connect(port, "127.0.0.1");
    if (await new Promise((done) => socket.once("connect", () => done(true)).once("error", () => done(false)))) return socket;
    await wait(100);
  }
  throw new Error("Firefox does not answer");
}

/** A window of Firefox: go(url), run(function, ...arguments) in the page, size(width, height), end(). */
export async function firefox(executable) {
  const profile = mkdtempSync(join(tmpdir(), "posenc-firefox-")), port = await freePort();
  writeFileSync(join(profile, "user.js"), `user_pref("marionette.port", ${port});\nuser_pref("ui.prefersReducedMotion", 1);\n` +
    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("network.captive-portal-service.enabled", false);\n' +
    'user_pref("network.connectivity-service.enabled", false);\nuser_pref("app.update.disabledForTesting", true);\n');
  const child = spawn(executable, ["--headless", "--marionette", "--no-remote", "--profile", profile], { stdio: "ignore", env: { ...process.env, HOME: profile } });
  const socket = await reach(port), waiting = new Map();
  let bytes = Buffer.alloc(0), sent = 0;
  socket.on("data", (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    for (let colon = bytes.indexOf(":"); colon > 0; colon = bytes.indexOf(":")) {
      const end = colon + 1 + Number(bytes.subarray(0, colon));
      if (bytes.length < end) return;
      const [type, id, error, result] = [].concat(JSON.parse(bytes.subarray(colon + 1, end)));
      bytes = bytes.subarray(end);
      if (type === 1) waiting.get(id)?.(error, result);
    }
  });
  const ask = (name, parameters = {}) => new Promise((done, fail) => {
    const text = Buffer.from(JSON.stringify([0, ++sent, name, parameters]));
    waiting.set(sent, (error, result) => (error ? fail(new Error(`${error.error}: ${error.message}`)) : done(result)));
    socket.write(Buffer.concat([Buffer.from(`${text.length}:`), text]));
  });
  const { capabilities } = await ask("WebDriver:NewSession", { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
  await ask("WebDriver:SetTimeouts", { script: 120_000, pageLoad: 60_000 });
  return {
    version: capabilities.browserVersion,
    go: (url) => ask("WebDriver:Navigate", { url }),
    size: (width, height) => ask("WebDriver:SetWindowRect", { width, height }),
    picture: async () => Buffer.from((await ask("WebDriver:TakeScreenshot", { full: false })).value, "base64"),
    run: async (f, ...args) => (await ask("WebDriver:ExecuteAsyncScript", {
      script: `const done = arguments[arguments.length - 1]; Promise.resolve((${f})(...[...arguments].slice(0, -1))).then(done, (e) => done({ failed: String(e) }));`, args, newSandbox: false,
    })).value,
    end: async () => {
      await ask("Marionette:Quit", { flags: ["eForceQuit"] }).catch(() => {});
      socket.destroy();
      await new Promise((done) => { child.once("exit", done); setTimeout(() => { child.kill("SIGKILL"); done(); }, 5000); });
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
