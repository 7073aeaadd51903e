// Uses pages of verify as people do; tests/browsing.js opens them and says what arguments there are.
"use strict";
const { open, looks, focused, stops, report } = require("../../browsing.js");

async function keys(browser) {
  const { context, page, seen } = await open(browser, "day", {});
  const result = {};
  await page.keyboard.press("Tab");
  result.first = { ...(await focused(page)), text: await page.evaluate(() => document.activeElement.textContent) };
  Object.assign(result, await stops(page));
  await page.locator("#c0 summary").focus();
  await page.keyboard.press("Enter");
  result.entered = await page.evaluate(() => document.querySelector("#c0 details").innerText);
  await page.keyboard.press("Escape");
  result.escaped = await page.evaluate(() => !document.querySelector("#c0 details").open && document.activeElement.tagName);
  await page.locator("#nodes a.t-danger").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForTimeout(100);
  result.followed = await page.evaluate(() => ({ hash: location.hash, open: document.querySelector("#c0 details").open, within: Boolean(document.activeElement.closest("#c0")) }));
  await context.close();
  return { ...result, ...seen };
}

async function filters(browser) {
  const { context, page, seen } = await open(browser, "day", {});
  const shown = () => page.evaluate(() => ({
    findings: Array.from(document.querySelectorAll(".change")).filter((one) => one.checkVisibility()).map((one) => one.id),
    nodes: Array.from(document.querySelectorAll("#nodes tbody tr")).filter((one) => one.checkVisibility()).map((one) => one.querySelector("th").textContent),
    status: document.getElementById("shown").textContent,
    none: document.getElementById("none-match").checkVisibility(),
  }));
  const result = { all: await shown() };
  await page.click('#tally button[data-class="drift"]');
  result.drift = await shown();
  await page.click('button[type="reset"]');
  await page.click('#tally button[data-class="fine"]');
  result.fine = await shown();
  await page.click('button[type="reset"]');
  await page.click('svg a[data-host="us-edge"]');
  result.box = { ...(await shown()), host: await page.inputValue("#by-host") };
  await page.click('button[type="reset"]');
  await page.fill("#by-text", "PRICEPERUNIT");
  await page.waitForTimeout(200);
  result.text = await shown();
  await context.close();
  return { ...result, ...seen };
}

async function withoutScript(browser) {
  const { context, page, seen } = await open(browser, "day", { javaScriptEnabled: false });
  const result = {
    filter: await page.locator("#filter").isVisible(),
    tally: await page.locator("#tally li").count(),
    before: await page.locator("#c0 .causes").isVisible(),
  };
  await page.locator("#c0 summary").click();
  result.after = await page.locator("#c0 .causes").isVisible();
  await context.close();
  return { ...result, ...seen };
}

async function big(browser) {
  const started = Date.now();
  const { context, page, seen } = await open(browser, "huge", {});
  const loaded = Date.now() - started;
  await page.fill("#by-text", "node-77");
  await page.waitForFunction(() => document.getElementById("shown").textContent !== "");
  const status = await page.textContent("#shown");
  await context.close();
  return { loaded, status, ...seen };
}

report(async (browser) => {
  const wanted = [];
  for (const name of ["day", "stage", "nasty", "well"]) {
    for (const scheme of ["light", "dark"]) wanted.push([name, scheme, 1280, true], [name, scheme, 390, name === "day"]);
  }
  return {
    looks: await looks(browser, wanted),
    keys: await keys(browser),
    filters: await filters(browser),
    withoutScript: await withoutScript(browser),
    big: await big(browser),
  };
});
