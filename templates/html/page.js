"use strict";
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);
  const form = byId("filter");
  const hostBox = byId("by-host");
  const textBox = byId("by-text");
  const items = all("[data-h]");
  const parts = all("section[data-counted]");
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
    const classes = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.dataset.class);
    const host = hostBox.value.trim().toLowerCase();
    const text = textBox.value.trim().toLowerCase();
    const wanted = new Set();
    if (host) {
      const exact = names.indexOf(host);
      if (exact >= 0) wanted.add(exact);
      else names.forEach((name, place) => { if (name.includes(host)) wanted.add(place); });
    }
    const count = new Map(parts.map((part) => [part, [0, 0]]));
    for (const item of items) {
      const of = item.dataset.i.split(" ");
      const fits = (classes.length === 0 || classes.some((one) => of.includes(one)))
        && (!host || touches(item.dataset.h, wanted))
        && (!text || says(item).includes(text));
      item.hidden = !fits;
      const part = count.get(item.closest("section"));
      if (part) { part[1] += 1; if (fits) part[0] += 1; }
    }
    const [shown, whole] = count.get(parts[0]);
    byId("none-match").hidden = shown > 0 || whole === 0;
    byId("shown").textContent = classes.length || host || text
      ? parts.map((part) => `${part.dataset.counted}: ${count.get(part).join(" of ")}.`).join(" ") : "";
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

  chips = all("#tally [data-class]").map((item) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.dataset.class = item.dataset.class;
    chip.setAttribute("aria-pressed", "false");
    chip.append(...item.childNodes);
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
    item.append(chip);
    return chip;
  });

  // What is pointed at in the picture is told below it, as its list has it.
  const told = byId("pictured");
  if (told) {
    told.hidden = false;
    const entries = all("#boxes > li");
    const tell = (event) => {
      const box = event.target.closest("[data-box]");
      if (box) told.replaceChildren(...entries[Number(box.dataset.box)].cloneNode(true).childNodes);
    };
    // Not on the picture itself: an element of SVG that listens to the focus is a stop of the tab key.
    for (const kind of ["mouseover", "focusin"]) document.querySelector(".picture").parentElement.addEventListener(kind, tell);
  }

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
  window.addEventListener("beforeprint", () => { for (const part of all("details:not(.file, .line)")) part.open = true; });
  follow(location.hash);
})();
