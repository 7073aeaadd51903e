// Uses pages of reviews, and of verify, which has the same script, as people do; tests/browsing.js opens them and says what arguments there are.
"use strict";
const { open, looks, focused, stops, report } = require("../browsing.js");

async function keys(browser) {
  const { context, page, seen } = await open(browser, "mixed", {});
  const result = {};
  await page.keyboard.press("Tab");
  result.first = { ...(await focused(page)), text: await page.evaluate(() => document.activeElement.textContent) };
  Object.assign(result, await stops(page));
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

async function verified(browser) {
  const { context, page, seen } = await open(browser, "day", {});
  const shown = () => page.evaluate(() => [document.getElementById("shown").textContent, ...Array.from(document.querySelectorAll(".change, #nodes tbody tr")).filter((one) => one.checkVisibility()).map((one) => one.id || one.querySelector("th").textContent.split(" ")[0])]);
  await page.click('#tally button[data-class="drift"]');
  const result = { drift: await shown() };
  await page.click('button[type="reset"]');
  await page.click('svg a[data-host="us-edge"]');
  result.box = await shown();
  await page.click('button[type="reset"]');
  await page.locator("#nodes a.t-danger").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForTimeout(100);
  result.followed = await page.evaluate(() => [location.hash, document.querySelector("#c0 details").open]);
  await context.close();
  return { ...result, ...seen };
}

// How many impact cards stand in each row, at every width.
async function rows(browser) {
  const { context, page } = await open(browser, "mixed", {});
  const found = [];
  for (const width of [320, 390, 480, 600, 740, 900, 1000, 1280, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    for (const cards of [4, 3, 2, 1]) {
      found.push(await page.evaluate((number) => {
        const all = Array.from(document.querySelectorAll("#tally > li"));
        const list = all[0].parentElement;
        const kept = all.slice(number).map((card) => { card.remove(); return card; });
        const count = {};
        for (const card of list.children) { const top = Math.round(card.getBoundingClientRect().top); count[top] = (count[top] || 0) + 1; }
        list.append(...kept);
        return Object.values(count);
      }, cards));
    }
  }
  await context.close();
  return found;
}

async function pointed(browser) {
  const { context, page, seen } = await open(browser, "mixed", {});
  const told = () => page.evaluate(() => document.getElementById("pictured").innerText);
  const result = { before: await told() };
  await page.hover('svg [data-box="1"]');
  result.hovered = await told();
  await page.focus('svg [data-box="6"]');
  result.focused = await told();
  await page.emulateMedia({ media: "print" });
  const listed = () => document.getElementById("boxes").checkVisibility({ contentVisibilityAuto: true }) && document.getElementById("boxes").getBoundingClientRect().height > 0;
  result.printed = await page.waitForFunction(listed, null, { timeout: 5000 }).then(() => true, () => false);  // the style of print comes a moment later
  await context.close();
  return { ...result, ...seen };
}

async function addresses(browser) {
  const { context, page, seen } = await open(browser, "mixed", {});
  const size = () => page.evaluate(() => parseFloat(getComputedStyle(document.querySelector(".change .long .rest")).fontSize));
  const result = { closed: await size() };
  result.copied = await page.evaluate(() => { getSelection().selectAllChildren(document.querySelector(".change .long")); return getSelection().toString(); });
  await page.focus(".change .long");
  result.open = await size();
  await context.close();
  return { ...result, ...seen };
}

async function withoutScript(browser) {
  const { context, page, seen } = await open(browser, "mixed", { javaScriptEnabled: false });
  const result = {
    filter: await page.locator("#filter").isVisible(),
    tally: await page.locator("#tally [data-class]").count(),
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

report(async (browser) => {
  const wanted = [["mixed", "light", 1280, false], ["price", "dark", 1280, true]];
  for (const name of ["mixed", "nasty", "empty", "day", "stage", "odd", "well"]) {
    for (const scheme of ["light", "dark"]) {
      wanted.push([name, scheme, 1280, true], [name, scheme, 380, ["mixed", "day"].includes(name)]);
    }
  }
  return {
    looks: await looks(browser, wanted),
    keys: await keys(browser),
    filters: await filters(browser),
    verified: await verified(browser),
    rows: await rows(browser),
    pointed: await pointed(browser),
    addresses: await addresses(browser),
    withoutScript: await withoutScript(browser),
    big: await big(browser),
    printed: await printed(browser),
  };
});
