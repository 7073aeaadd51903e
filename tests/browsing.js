// Opens pages in headless Chromium and reports what it saw as one JSON object on stdout; pytest judges it.
// A script calls `report(work)`, and its work gets the browser and returns the object.
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

// What each page looks like: `wanted` has its name, colour scheme, width, and whether all of it is opened.
async function looks(browser, wanted) {
  const left = [...wanted];
  const seen = [];  // some at once: each waits for the browser more than it works
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (let one = left.pop(); one; one = left.pop()) seen.push(await look(browser, ...one));
  }));
  return seen;
}

// What has the focus, and whether people see that.
const focused = (page) => page.evaluate(() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  const ring = at.closest("svg") ? parseFloat(getComputedStyle(at.querySelector("rect")).strokeWidth) : parseFloat(style.outlineWidth);
  return { tag: at.tagName.toLowerCase(), id: at.id, ring, inSight: box.width > 0 && box.bottom > 0 && box.top < innerHeight };
});

// All that the tab key stops at after the first stop, in a page just opened, and whether it goes forward only.
async function stops(page) {
  const seen = [];
  for (let step = 0; step < 60; step += 1) {
    await page.evaluate(() => { window.lastStop = document.activeElement; });
    await page.keyboard.press("Tab");
    const stop = await focused(page);
    if (stop.tag === "body") break;
    seen.push(stop);
    const after = await page.evaluate(() => Boolean(window.lastStop.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING));
    if (!after) return { stops: seen, inOrder: false };
  }
  return { stops: seen, inOrder: true };
}

async function report(work) {
  const root = process.getuid && process.getuid() === 0;
  const browser = await chromium.launch({ executablePath, args: root ? ["--no-sandbox"] : [] });
  try {
    process.stdout.write(JSON.stringify(await work(browser)));
  } finally {
    await browser.close();
  }
}

module.exports = { open, looks, focused, stops, report };
