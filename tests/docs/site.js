// Reads the documentation site from its files, as people do without a network; tests/browsing.js opens Chromium.
"use strict";
const path = require("path");
const { pathToFileURL } = require("url");
const { open, report } = require("../browsing.js");
const root = process.argv[4];

report(async (browser) => {
  const { context, page, seen } = await open(browser, "index", {});
  await page.fill('input[name="q"]', "deposit-below-face-value");
  await page.press('input[name="q"]', "Enter");
  await page.waitForSelector("#search-results li a");
  const hits = await page.$$eval("#search-results li a", (links) => links.map((link) => link.textContent));
  await page.click("#search-results li a");
  await page.waitForLoadState();
  const reached = page.url().slice(pathToFileURL(root).href.length);
  const narrow = {};
  for (const name of ["index", "guide/commands", "tables/gateways", "codes/money", "examples/index", "project/changes"]) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(pathToFileURL(path.join(root, `${name}.html`)).href);
    narrow[name] = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  }
  await context.close();
  return { hits, reached, narrow, errors: seen.errors, beyond: seen.requests.filter((url) => !url.startsWith("file:")) };
});
