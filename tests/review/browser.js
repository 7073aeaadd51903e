// Opens pages in headless Chromium and reports what it saw as one JSON object on stdout; pytest judges it.
// Arguments: folder of node packages, path of Chromium, folder of the pages, folder for screenshots.
"use strict";
const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const [tools, executablePath, pages, shots] = process.argv.slice(2);
const { chromium } = require(path.join(tools, "playwright-core"));
const axe = fs.readFileSync(path.join(tools, "axe-core", "axe.min.js"), "utf8");
const address = (name) => pathToFileURL(path.join(pages, `${name}.html`)).href;

async function open(browser, name, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const seen = { console: [], errors: [], dialogs: 0, requests: [] };
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("dialog", (dialog) => { seen.dialogs += 1; dialog.dismiss(); });
  page.on("request", (request) => { if (![address(name), "data:,"].includes(request.url().split("#")[0])) seen.requests.push(request.url()); });
  await page.goto(address(name));
  return { context, page, seen };
}

async function look(browser, name, scheme, width, opened) {
  const { context, page, seen } = await open(browser, name, { colorScheme: scheme, viewport: { width, height: 900 } });
  if (opened) await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const violations = found.violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  if (violations.length || sideways > 0) {  // for whoever looks into the failure
    await page.screenshot({ path: path.join(shots, `${name}-${scheme}-${width}${opened ? "-open" : ""}.png`), fullPage: true });
  }
  await context.close();
  return { name, scheme, width, opened, violations, sideways, background, passes: found.passes.length, ...seen };
}

async function keys(browser) {
  const { context, page, seen } = await open(browser, "mixed", {});
  const result = {};
  const focused = () => page.evaluate(() => {
    const at = document.activeElement;
    const style = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    const ring = at.closest("svg") ? parseFloat(getComputedStyle(at.querySelector("rect")).strokeWidth) : parseFloat(style.outlineWidth);
    return { tag: at.tagName.toLowerCase(), id: at.id, ring, inSight: box.width > 0 && box.bottom > 0 && box.top < innerHeight };
  });
  await page.keyboard.press("Tab");
  result.first = { ...(await focused()), text: await page.evaluate(() => document.activeElement.textContent) };
  result.stops = [];
  result.inOrder = true;
  for (let step = 0; step < 60; step += 1) {
    await page.evaluate(() => { window.lastStop = document.activeElement; });
    await page.keyboard.press("Tab");
    const stop = await focused();
    if (stop.tag === "body") break;
    result.stops.push(stop);
    const after = await page.evaluate(() => Boolean(window.lastStop.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING));
    if (!after) { result.inOrder = false; break; }
  }
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  result.skipped = await page.evaluate(() => location.hash + " " + document.activeElement.id);
  await page.keyboard.press("Tab");
  const state = () => page.evaluate(() => {
    const at = document.activeElement;
    return { summary: at.tagName === "SUMMARY", open: Boolean(at.parentElement.open), text: at.parentElement.innerText };
  });
  result.closed = await state();
  await page.keyboard.press("Enter");
  result.entered = await state();
  await page.keyboard.press("Escape");
  result.escaped = await state();
  await page.keyboard.press("Space");
  result.spaced = await state();
  await page.locator(".file summary").first().focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  result.why = await state();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(100);
  result.followed = await page.evaluate(() => ({ hash: location.hash, open: document.querySelector("#c2 details").open, within: Boolean(document.activeElement.closest("#c2")) }));
  await page.locator(".file .line summary").first().focus();
  await page.keyboard.press("Escape");
  result.whyClosed = await page.evaluate(() => !document.querySelector(".file .line").open && document.querySelector(".file").open);
  await context.close();
  return { ...result, ...seen };
}

async function filters(browser) {
  const { context, page, seen } = await open(browser, "mixed", {});
  const shown = () => page.evaluate(() => ({
    changes: Array.from(document.querySelectorAll(".change")).filter((one) => one.checkVisibility()).map((one) => one.id),
    files: Array.from(document.querySelectorAll(".file")).filter((one) => one.checkVisibility()).map((one) => one.querySelector("code").textContent),
    status: document.getElementById("shown").textContent,
    none: document.getElementById("none-match").checkVisibility(),
  }));
  const type = async (selector, text) => { await page.fill(selector, text); await page.waitForTimeout(200); return shown(); };
  const result = { all: await shown() };
  await page.click('#tally button[data-class="price"]');
  result.price = { ...(await shown()), pressed: await page.getAttribute('#tally button[data-class="price"]', "aria-pressed") };
  await page.click('#tally button[data-class="exposure"]');
  result.priceOrExposure = await shown();
  await page.click('button[type="reset"]');
  result.reset = await shown();
  result.host = await type("#by-host", "us-gpu-1");
  result.hosts = await type("#by-host", "us-");
  result.noHost = await type("#by-host", "mars");
  await page.focus("#by-host");
  await page.keyboard.press("Escape");
  result.escaped = await shown();
  result.text = await type("#by-text", "FIREWALL");
  await page.click('button[type="reset"]');
  await page.click('svg a[data-host="eu-ai"]');
  result.box = { ...(await shown()), host: await page.inputValue("#by-host") };
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  await page.click('.file .why a[href="#c3"]');
  await page.waitForTimeout(100);
  result.stillFiltered = await shown();
  await page.click('button[type="reset"]');
  await page.fill("#by-text", "exposure");
  await page.waitForTimeout(200);
  await page.evaluate(() => { location.hash = ""; });
  await context.close();
  return { ...result, ...seen };
}

async function withoutScript(browser) {
  const { context, page, seen } = await open(browser, "mixed", { javaScriptEnabled: false });
  const result = {
    filter: await page.locator("#filter").isVisible(),
    tally: await page.locator("#tally li").count(),
    effects: await page.locator(".effects li").first().isVisible(),
    before: await page.locator(".why").first().isVisible(),
  };
  await page.locator(".file > summary").first().click();
  await page.locator(".line > summary").first().click();
  result.after = await page.locator(".why").first().isVisible();
  await context.close();
  return { ...result, ...seen };
}

async function big(browser) {
  const started = Date.now();
  const { context, page, seen } = await open(browser, "huge", {});
  const loaded = Date.now() - started;
  const filterStarted = Date.now();
  await page.fill("#by-text", "number 77");
  await page.waitForFunction(() => document.getElementById("shown").textContent !== "");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const filtered = Date.now() - filterStarted;
  const status = await page.textContent("#shown");
  await context.close();
  return { loaded, filtered, status, ...seen };
}

async function printed(browser) {
  const { context, page } = await open(browser, "mixed", { colorScheme: "dark" });
  const pdf = await page.pdf({ format: "A4" });
  await page.emulateMedia({ media: "print" });
  const result = await page.evaluate(() => ({
    nav: document.querySelector("nav").checkVisibility(),
    filter: document.getElementById("filter").checkVisibility(),
    ink: getComputedStyle(document.body).color,
  }));
  await context.close();
  return { ...result, bytes: pdf.length };
}

(async () => {
  const root = process.getuid && process.getuid() === 0;
  const browser = await chromium.launch({ executablePath, args: root ? ["--no-sandbox"] : [] });
  try {
    const wanted = [["mixed", "light", 1280, false], ["price", "dark", 1280, true]];
    for (const name of ["mixed", "nasty", "empty"]) {
      for (const scheme of ["light", "dark"]) {
        wanted.push([name, scheme, 1280, true], [name, scheme, 380, name === "mixed"]);
      }
    }
    const looks = [];  // some at once: each waits for the browser more than it works
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let one = wanted.pop(); one; one = wanted.pop()) looks.push(await look(browser, ...one));
    }));
    const result = {
      looks,
      keys: await keys(browser),
      filters: await filters(browser),
      withoutScript: await withoutScript(browser),
      big: await big(browser),
      printed: await printed(browser),
    };
    process.stdout.write(JSON.stringify(result));
  } finally {
    await browser.close();
  }
})();
