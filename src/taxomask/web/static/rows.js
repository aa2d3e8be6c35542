// Records before and after, side by side, with what changed marked.
"use strict";
import { h, put } from "./dom.js";

const AT_A_TIME = 8; // columns

export function beforeAndAfter({ names, protected: changedNames, rows }) {
  const place = h("div", {});
  let start = 0;
  let only = names.filter((name) => changedNames.includes(name)).length > 0;
  const back = h("button", { type: "button", class: "button small", onclick: () => { start -= AT_A_TIME; draw(); } }, "Earlier columns");
  const on = h("button", { type: "button", class: "button small", onclick: () => { start += AT_A_TIME; draw(); } }, "More columns");
  const told = h("span", { class: "small soft", role: "status" });
  const draw = () => {
    const every = only ? names.filter((name) => changedNames.includes(name)) : names;
    start = Math.max(0, Math.min(start, every.length - 1));
    const shown = every.slice(start, start + AT_A_TIME);
    told.textContent = `columns ${start + 1} to ${start + shown.length} of ${every.length}`;
    back.disabled = start === 0;
    on.disabled = start + AT_A_TIME >= every.length;
    const cell = ([before, after]) => before === after ? h("td", {}, after || "–") : h("td", { class: "changed" }, h("del", {}, before || "–"), " ", h("ins", {}, after || "–"));
    put(place, h("table", { class: "both" }, h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "first" }, "row"), shown.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row, number) => h("tr", {}, h("th", { scope: "row", class: "first" }, String(number + 1)), shown.map((name) => cell(row[name])))))));
  };
  draw();
  return h("details", { class: "card-box" }, h("summary", {}, h("b", {}, "Records before and after")),
    h("p", { class: "soft small" }, "The first records, in their original order, for your eyes only: what was, struck out, and what is released. Released rows are in another order."),
    h("div", { class: "row" }, h("label", { class: "check" }, h("input", { type: "checkbox", checked: only, onchange: (event) => { only = event.target.checked; start = 0; draw(); } }), "Only columns that were replaced"), back, on, told),
    h("div", { class: "wide preview", tabindex: "0", role: "region", "aria-label": "Records before and after" }, place));
}
