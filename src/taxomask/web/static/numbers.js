// What can be said about a column of numbers or dates: decimals, how they are written, open ends, coarser dates; and weights.
"use strict";
import { choice, h, unique } from "./dom.js";

const WRITTEN = ["1,234.50", "1.234,50", "1 234,5", "1234,5", "1.234,50 €", "$1,234.50", "d.m.Y", "m/d/Y", "d/m/Y", "Y-m-d", "d.m.Y H:M", "d/m/Y H:M", "Y-m-d H:M:S"];

export function numbers(attribute, edited) {
  const input = h("input", { type: "number", min: 0, max: 20, step: 1, value: attribute.decimals ?? "", placeholder: "original + 2", "aria-label": `Decimals of ${attribute.name}`,
    onchange: () => { attribute.decimals = input.value === "" || !input.validity.valid ? null : Number(input.value); edited(); } });
  const decimals = h("label", { class: "row small soft" }, "Decimals of new values: at most", input);
  const draw = () => { decimals.hidden = /[dmY]\W?[dmY]/.test(attribute.notation || ""); }; // days have none
  draw();
  return h("div", { class: "numbers" }, decimals, written(attribute, () => { draw(); edited(); }));
}

function written(attribute, edited) {
  const list = h("datalist", { id: unique("notations") }, WRITTEN.map((value) => h("option", { value })));
  const said = h("span", { class: "small broken", role: "status" });
  const set = (key, value) => { if (value === undefined) delete attribute[key]; else attribute[key] = value; summary.textContent = told(attribute); edited(); };
  const notation = h("input", { type: "text", list: list.id, value: attribute.notation || "", placeholder: "plain numbers", "aria-label": `How ${attribute.name} is written`, onchange: () => set("notation", notation.value.trim() || undefined) });
  const ends = h("input", { type: "text", value: Object.entries(attribute.open_ends || {}).map(([text, number]) => `${text} = ${number}`).join("; "), placeholder: "90+ = 90; <5 = 4", "aria-label": `Open ends of ${attribute.name}`, onchange: () => {
    const pairs = ends.value.split(";").map((one) => one.trim()).filter(Boolean).map((one) => { const at = one.lastIndexOf("="); return [one.slice(0, at).trim(), at < 0 ? NaN : Number(one.slice(at + 1))]; });
    const wrong = pairs.some(([text, number]) => !text || !Number.isFinite(number));
    said.textContent = wrong ? "Write each text with the number that it counts as: 90+ = 90" : "";
    if (!wrong) set("open_ends", pairs.length ? Object.fromEntries(pairs) : undefined);
  } });
  const age = (attribute.coarsen || "").startsWith("age at ");
  const day = h("input", { type: "text", size: 11, value: age ? attribute.coarsen.slice(7) : "", placeholder: "2020-12-31", "aria-label": `The day at which ages of ${attribute.name} are counted`, hidden: !age, onchange: () => set("coarsen", `age at ${day.value.trim()}`) });
  const coarser = choice([["", "stay days"], ["year", "become years"], ["month", "become months"], ["age", "become ages, in years, at"]], age ? "age" : attribute.coarsen || "", (value) => { day.hidden = value !== "age"; if (value !== "age") set("coarsen", value || undefined); else day.focus(); }, { "aria-label": `What dates of ${attribute.name} become` });
  const summary = h("summary", { class: "small soft" }, told(attribute));
  return h("details", {}, summary, h("div", { class: "row small soft" }, list,
    h("label", { class: "row" }, "1234.5, or a day, is written as", notation),
    h("label", { class: "row" }, "Texts of which only a limit is known", ends), said,
    h("label", { class: "row" }, "Dates", coarser), day));
}

function told(attribute) {
  const parts = [attribute.notation ? `as ${attribute.notation}` : "as plain numbers", ...Object.entries(attribute.open_ends || {}).map(([text, number]) => `${text} counts as ${number}`), attribute.coarsen ? `read as ${attribute.coarsen}` : null];
  return `Written ${parts.filter(Boolean).join("; ")}`;
}

export function weight(attribute, edited) {
  const input = h("input", { type: "number", min: 0, step: "any", value: attribute.weight ?? "", placeholder: "1", "aria-label": `Weight of ${attribute.name}`,
    onchange: () => { const value = Number(input.value); if (value > 0) attribute.weight = value; else { delete attribute.weight; input.value = ""; } edited(); } });
  return h("label", { class: "row small soft" }, "Counts in the distance between records:", input, "times");
}
