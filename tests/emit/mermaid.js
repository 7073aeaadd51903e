// Draws Mermaid pictures with the real Mermaid in headless Chromium, and reports what it saw as JSON on stdout.
// Arguments: folder of node packages, path of Chromium, a JSON file with pictures by name, a folder for screenshots or "".
// Mermaid and its layout ELK are served on loopback, because a browser loads no modules from files.
"use strict";
const fs = require("fs");
const http = require("http");
const path = require("path");
const [tools, executablePath, wanted, shots] = process.argv.slice(2);
const { chromium } = require(path.join(tools, "playwright-core"));

const PAGE = `<!DOCTYPE html><meta charset="utf-8"><title>Pictures</title><link rel="icon" href="data:,"><div id="place"></div>
<script type="module">
import mermaid from "/mermaid/dist/mermaid.esm.min.mjs";
import elk from "/@mermaid-js/layout-elk/dist/mermaid-layout-elk.esm.min.mjs";
let number = 0;
window.draw = async (text, withElk) => {
  if (withElk) mermaid.registerLayoutLoaders(elk);
  mermaid.initialize({ startOnLoad: false });
  const { svg } = await mermaid.render("picture" + number++, text);
  const place = document.getElementById("place");
  place.innerHTML = svg;
  const drawn = place.querySelector("svg");
  const box = drawn.viewBox.baseVal;
  const texts = (selector) => Array.from(drawn.querySelectorAll(selector), (one) => one.textContent.trim()).filter(Boolean);
  return { width: Math.round(box.width), height: Math.round(box.height), nodes: texts(".nodeLabel"),
    edges: drawn.querySelectorAll(".flowchart-link").length, labels: texts(".edgeLabel") };
};
window.ready = true;
</script>`;

function served(request, response) {
  const name = decodeURIComponent(new URL(request.url, "http://x").pathname);
  const file = path.join(tools, name);
  if (name === "/") return response.setHeader("Content-Type", "text/html").end(PAGE);
  if (!file.startsWith(tools + path.sep) || !fs.existsSync(file)) return response.writeHead(404).end();
  return response.setHeader("Content-Type", "text/javascript").end(fs.readFileSync(file));
}

async function drawAll(browser, address, withElk) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const seen = { console: [], pictures: {} };
  page.on("console", (message) => seen.console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => seen.console.push(`error: ${error}`));
  await page.goto(address);
  await page.waitForFunction("window.ready");
  for (const [name, text] of Object.entries(JSON.parse(fs.readFileSync(wanted, "utf8")))) {
    try {
      seen.pictures[name] = await page.evaluate(([one, elk]) => window.draw(one, elk), [text, withElk]);
    } catch (error) {
      seen.pictures[name] = { error: String(error).slice(0, 2000) };
    }
    if (shots) await page.screenshot({ path: path.join(shots, `${name}-${withElk ? "elk" : "plain"}.png`), fullPage: true });
  }
  await page.close();
  return seen;
}

(async () => {
  const server = http.createServer(served);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const address = `http://127.0.0.1:${server.address().port}/`;
    const seen = { elk: await drawAll(browser, address, true), plain: await drawAll(browser, address, false) };
    process.stdout.write(JSON.stringify(seen));
  } finally {
    await browser.close();
    server.close();
  }
})().catch((error) => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
