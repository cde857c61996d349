// SPDX-License-Identifier: MIT
//
// The page opens, from disk and from a server, and asks nobody.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { calm, check, open, serve, settle, skip, that, until } from "./page.mjs";
import { browser, disk, lab, web } from "./setup.mjs";

check("it opens from disk, says nothing to the console and asks nobody", async () => {
  const page = await open(browser, disk);
  that(await page.evaluate(() => document.querySelectorAll("svg, canvas, .weights").length > 0), "no picture");
  await settle(page, "all");
  calm(page);
  await page.close();
});

if (existsSync(join(web, "build", "site", "posenc.wasm")))
  check("its four files work from a server", async () => {
    const server = await serve(join(web, "build", "site"));
    const page = await open(browser, server.url);
    that(await page.evaluate(() => document.querySelectorAll("svg, canvas, .weights").length > 0), "no picture");
    calm(page);
    await page.close();
    server.close();
  });
if (existsSync(join(web, "build", "site", "posenc.wasm")))
  check("a site whose module is missing, or torn, says so", async () => {
    for (const [change, wanted] of [[() => null, /posenc\.wasm.*404/], [(bytes) => bytes.subarray(0, 5000), /could not start.*(Compile|magic|wasm|byte)/i]]) {
      const server = await serve(join(web, "build", "site"), (name, bytes) => (name.endsWith(".wasm") ? change(bytes) : bytes));
      const page = await browser.newPage();
      await page.goto(server.url);
      const said = await until(page, () => document.querySelector("[role=alert]")?.textContent);
      that(wanted.test(said), said);
      await page.close();
      server.close();
    }
  });
else skip("the site: web/build/site is made by make page");

check("its policy forbids all that is not its own", async () => {
  const page = await open(browser, lab);
  const policy = await page.evaluate(() => document.querySelector("meta[http-equiv=Content-Security-Policy]")?.content ?? "");
  that(policy.startsWith("default-src 'none'") && !policy.includes("unsafe-inline") && !policy.includes("'unsafe-eval'"), policy);
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script"), image = new Image(), style = document.createElement("style");
    script.textContent = "window.injected = true";
    style.textContent = "body { outline: 7px solid red }";
    const failed = new Promise((done) => image.addEventListener("error", done));
    image.setAttribute("onerror", "window.injected = true");
    image.src = "data:,x";
    document.body.append(script, image, style);
    const asked = await fetch("data:,x").then(() => true, () => false);
    await failed;
    return { injected: window.injected === true, asked, styled: getComputedStyle(document.body).outlineWidth === "7px" };
  });
  that(!ran.injected && !ran.asked && !ran.styled, JSON.stringify(ran));
  await page.close();
});

check("where the module traps the page says so and goes on", async () => {
  const page = await open(browser, `${disk}#a=rope&view=table`);
  const type = (spec) => page.evaluate(async (spec) => {
    const field = document.querySelector(".side-a input.spec");
    field.value = spec;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await window.settled();
    return [...document.querySelectorAll("#explore .error")].map((e) => e.textContent).filter(Boolean).join(" ");
  }, spec);
  await page.evaluate(() => { // every address that is handed in lies outside the memory
    const put = DataView.prototype.setUint32;
    window.mend = () => { DataView.prototype.setUint32 = put; };
    DataView.prototype.setUint32 = function (at, value, little) { put.call(this, at, value > 4096 ? 0xfffffff0 : value, little); };
  });
  const said = await type("rope:theta=500000");
  that(/crashed.*out of bounds/.test(said), said);
  await page.evaluate(() => window.mend());
  that((await type("rope:theta=600000")) === "", "the next command fails too");
  that(await page.evaluate(() => document.querySelectorAll("#pictures svg").length > 0), "no picture");
  calm(page);
  await page.close();
});
