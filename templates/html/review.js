"use strict";
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);
  const form = byId("filter");
  const hostBox = byId("by-host");
  const textBox = byId("by-text");
  const items = all("[data-h]");
  const words = new Map();
  const names = all("option", byId("hosts")).map((option) => option.value.toLowerCase());
  let chips = [];

  // "0-3 7" are places in the list of hosts; an empty text is the whole fleet, which every host belongs to.
  const touches = (ranges, wanted) => ranges === "" || ranges.split(" ").some((range) => {
    const [first, last = first] = range.split("-").map(Number);
    for (const host of wanted) if (first <= host && host <= last) return true;
    return false;
  });

  const says = (item) => {
    if (!words.has(item)) words.set(item, item.textContent.toLowerCase());
    return words.get(item);
  };

  const apply = () => {
    const impacts = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.impact);
    const host = hostBox.value.trim().toLowerCase();
    const text = textBox.value.trim().toLowerCase();
    const wanted = new Set();
    if (host) {
      const exact = names.indexOf(host);
      if (exact >= 0) wanted.add(exact);
      else names.forEach((name, place) => { if (name.includes(host)) wanted.add(place); });
    }
    const count = { changes: [0, 0], files: [0, 0] };
    for (const item of items) {
      const classes = item.dataset.i.split(" ");
      const fits = (impacts.length === 0 || impacts.some((impact) => classes.includes(impact)))
        && (!host || touches(item.dataset.h, wanted))
        && (!text || says(item).includes(text));
      item.hidden = !fits;
      const part = count[item.closest("section").id];
      if (part) { part[1] += 1; if (fits) part[0] += 1; }
    }
    byId("none-match").hidden = count.changes[0] > 0 || count.changes[1] === 0;
    byId("shown").textContent = impacts.length || host || text
      ? `Changes: ${count.changes.join(" of ")}. Groups of equal files: ${count.files.join(" of ")}.` : "";
  };

  const clear = () => {
    hostBox.value = "";
    textBox.value = "";
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    apply();
  };

  // A link to a change shows it, whatever is filtered, and opens it.
  const follow = (hash) => {
    const target = /^#c\d+$/.test(hash) ? byId(hash.slice(1)) : null;
    if (!target) return;
    if (target.hidden) clear();
    const details = target.querySelector("details");
    if (details) details.open = true;
    target.scrollIntoView();
    const summary = target.querySelector("summary");
    if (summary) summary.focus({ preventScroll: true });
  };

  chips = all("#tally li").map((item) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.dataset.impact = item.dataset.impact;
    chip.setAttribute("aria-pressed", "false");
    chip.append(...item.childNodes);
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
    item.append(chip);
    return chip;
  });

  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.addEventListener("reset", (event) => { event.preventDefault(); clear(); });
  form.hidden = items.length === 0;

  document.addEventListener("click", (event) => {
    const box = event.target.closest("a[data-host]");
    if (box) { hostBox.value = box.dataset.host; apply(); }
    const link = event.target.closest('a[href^="#c"]');
    if (link && !box) setTimeout(() => follow(link.getAttribute("href")), 0);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (event.target === hostBox || event.target === textBox) { event.target.value = ""; apply(); return; }
    const open = event.target.closest("details[open]");
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  });
  window.addEventListener("beforeprint", () => { for (const part of all("details")) part.open = true; });
  follow(location.hash);
})();
