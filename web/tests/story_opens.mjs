// SPDX-License-Identifier: MIT
//
// The page opens, from disk and from a server, and asks nobody.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { calm, check, open, serve, settle, skip, that } from "./page.mjs";
import { browser, disk, web } from "./setup.mjs";

check("it opens from disk, says nothing to the console and asks nobody", async () => {
  const page = await open(browser, disk);
  that(await page.evaluate(() => document.querySelectorAll("svg, canvas").length > 0), "no picture");
  await settle(page, 400);
  calm(page);
  await page.close();
});

if (existsSync(join(web, "build", "site", "posenc.wasm")))
  check("its four files work from a server", async () => {
    const server = await serve(join(web, "build", "site"));
    const page = await open(browser, server.url);
    that(await page.evaluate(() => document.querySelectorAll("svg, canvas").length > 0), "no picture");
    calm(page);
    await page.close();
    server.close();
  });
else skip("the site: web/build/site is made by make page");

check("its policy forbids all that is not its own", async () => {
  const page = await open(browser, disk);
  const policy = await page.evaluate(() => document.querySelector("meta[http-equiv=Content-Security-Policy]")?.content ?? "");
  that(policy.startsWith("default-src 'none'") && !policy.includes("unsafe-inline") && !policy.includes("'unsafe-eval'"), policy);
  const ran = await page.evaluate(async () => {
    const script = document.createElement("script"), image = new Image(), style = document.createElement("style");
    script.textContent = "window.injected = true";
    style.textContent = "body { outline: 7px solid red }";
    image.setAttribute("onerror", "window.injected = true");
    image.src = "data:,x";
    document.body.append(script, image, style);
    const asked = await fetch("data:,x").then(() => true, () => false);
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { injected: window.injected === true, asked, styled: getComputedStyle(document.body).outlineWidth === "7px" };
  });
  that(!ran.injected && !ran.asked && !ran.styled, JSON.stringify(ran));
  await page.close();
});
