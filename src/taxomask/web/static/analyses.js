// What users will compute from the table, each computed before and after; and who may try to find people.
"use strict";
import { choice, field, h, put, unique, words } from "./dom.js";
import { state } from "./app.js";

const kinds = () => state.methods.analyses;
const described = (kind) => kinds().find((one) => one.kind === kind);

export function analysesForm(draft, edited) {
  const place = h("div", {});
  const set = (list) => { draft.analyses = list; edited(); draw(); };
  const draw = () => {
    const list = draft.analyses || [];
    put(place,
      h("p", { class: "help" }, "Each is computed on the original and on the protected table; the report shows how far the confidence intervals overlap."),
      list.map((one, at) => form(one, at, edited, () => set(list.filter((_, other) => other !== at)))),
      h("p", {}, h("label", { class: "row" }, "Add", choice([["", "(choose what)"], ...kinds().map((one) => [one.kind, words(one.kind)])], "", (kind) => kind && set([...list, { name: fresh(list, kind), kind }]), { "aria-label": "Add an analysis" }))));
  };
  draw();
  return place;
}

function fresh(list, kind) {
  const base = kind.replaceAll("_", " ");
  let number = 1;
  while (list.some((one) => one.name === (number > 1 ? `${base} ${number}` : base))) number += 1;
  return number > 1 ? `${base} ${number}` : base;
}

function form(one, at, edited, remove) {
  const { about, parameters } = described(one.kind);
  const name = h("input", { type: "text", maxlength: 80, value: one.name, onchange: () => { one.name = name.value.trim() || one.name; name.value = one.name; edited(); } });
  const more = parameters.filter((other) => !other.required && other.control !== "none");
  return h("section", { class: "nested", "aria-label": `Analysis ${at + 1}` }, h("p", { class: "small soft" }, about), field("Name", name),
    parameters.filter((other) => other.required).map((other) => control(one, other, edited)),
    h("details", {}, h("summary", { class: "small" }, "More"), more.map((other) => control(one, other, edited))),
    h("button", { type: "button", class: "link small", onclick: remove }, `Leave out ${one.name}`));
}

function control(one, parameter, edited) {
  const set = (value) => { if (value === undefined || value === "" || value.length === 0) delete one[parameter.name]; else one[parameter.name] = value; edited(); };
  const label = words(parameter.name);
  const names = state.draft.attributes.filter((column) => column.role !== "identifier").map((column) => column.name);
  if (parameter.control === "column") return field(label, choice([["", "(choose a column)"], ...names.map((name) => [name, name])], one[parameter.name] || "", set), parameter.help);
  if (parameter.control === "number") {
    const box = h("input", { type: "number", step: "any", value: one[parameter.name] ?? "", placeholder: String(parameter.default ?? ""), onchange: () => set(box.value === "" ? undefined : Number(box.value)) });
    return field(label, box, parameter.help);
  }
  if (parameter.control === "text") {
    const box = h("input", { type: "text", size: 40, value: one[parameter.name] || "", onchange: () => set(box.value.trim()) });
    return field(label, box, parameter.help);
  }
  if (parameter.control === "terms") { // one of the columns, or a condition that is written
    const box = h("textarea", { rows: 3, value: (one[parameter.name] || []).join("\n"), onchange: () => set(box.value.split("\n").map((text) => text.trim()).filter(Boolean)) });
    const add = choice([["", "(add a column)"], ...names.map((name) => [name, name])], "", (name) => { if (name) { box.value = [...box.value.split("\n").filter(Boolean), name].join("\n"); box.dispatchEvent(new Event("change")); add.value = ""; } }, { "aria-label": `Add a column to ${parameter.name}` });
    return h("div", {}, field(label, box, `${parameter.help} One in each line.`), add);
  }
  if (parameter.control === "levels") return byColumn(one, parameter, edited, (column) => column.kind === "taxonomic", { type: "number", min: 1, step: 1, placeholder: "as they are" }, Number);
  if (parameter.control === "reference") return byColumn(one, parameter, edited, (column) => column.kind !== "continuous", { type: "text", placeholder: "the commonest" }, (text) => text);
  const chosen = new Set(one[parameter.name] || []);
  return h("fieldset", { class: "field" }, h("legend", {}, label), h("div", { class: "picks" }, names.map((name) => h("label", { class: "pick" },
    h("input", { type: "checkbox", checked: chosen.has(name), onchange: (event) => { if (event.target.checked) chosen.add(name); else chosen.delete(name); set([...chosen]); } }), h("span", {}, name)))), h("p", { class: "help" }, parameter.help));
}

// A value for each of some columns; those that are left empty are left out.
function byColumn(one, parameter, edited, fits, look, read) {
  const columns = state.draft.attributes.filter((column) => column.role !== "identifier" && fits(column));
  const boxes = columns.map(({ name }) => {
    const box = h("input", { ...look, size: 14, value: one[parameter.name]?.[name] ?? "", onchange: () => {
      const { [name]: _, ...rest } = one[parameter.name] || {};
      const text = box.value.trim();
      const all = text ? { ...rest, [name]: read(text) } : rest;
      if (Object.keys(all).length) one[parameter.name] = all; else delete one[parameter.name];
      edited();
    } });
    return h("label", { class: "row" }, h("span", {}, name), box);
  });
  return h("fieldset", { class: "field" }, h("legend", {}, words(parameter.name)), h("p", { class: "help" }, parameter.help), boxes.length ? boxes : h("p", { class: "help" }, "There is no such column."));
}

export function attackersForm(draft, edited) {
  const every = state.methods.attackers.map((one) => one.name);
  const chosen = new Set(draft.attackers?.length ? draft.attackers : every);
  return h("fieldset", { class: "field" }, h("legend", {}, "Attackers"), h("p", { class: "help" }, "The risk is that of the best of them. Fewer are measured faster, and say less: the report names those that were tried."),
    state.methods.attackers.map((one) => { const id = unique("attacker"); return h("div", {}, h("label", { class: "check", for: id }, h("input", { type: "checkbox", id, checked: chosen.has(one.name), onchange: (event) => {
      if (event.target.checked) chosen.add(one.name); else chosen.delete(one.name);
      if (!chosen.size) { chosen.add(one.name); event.target.checked = true; return; }
      draft.attackers = chosen.size === every.length ? undefined : every.filter((name) => chosen.has(name));
      edited();
    } }), words(one.title)), h("p", { class: "help" }, one.about)); }));
}
