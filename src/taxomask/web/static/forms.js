// The parameters of a method as a form, from what the method says about itself.
"use strict";
import { choice, field, h, unique, words } from "./dom.js";
import { state } from "./app.js";

export const described = (name) => state.methods.methods.find((one) => one.name === name);

// A method as it first stands: what it needs is set, the rest is left to its defaults.
export function fresh(name) {
  const method = { name };
  for (const one of described(name).parameters) {
    if (one.control === "method") method[one.name] = fresh("microaggregation");
    else if (one.control === "methods") method[one.name] = [fresh("microaggregation"), fresh("shuffling")];
    else if (one.slider && one.slider.start !== null) method[one.name] = one.slider.start;
  }
  return method;
}

export function methodForm(method, edited) {
  const { parameters } = described(method.name);
  const controls = (main) => parameters.filter((one) => one.main === main && one.control !== "none").map((one) => control(method, one, edited));
  const more = controls(false);
  return h("div", { class: "form" }, controls(true), more.length ? h("details", { class: "settings" }, h("summary", {}, "More settings"), more) : null);
}

function control(method, one, edited) {
  const set = (value) => { if (value === undefined) delete method[one.name]; else method[one.name] = value; edited(); };
  const label = words(one.name);
  if (one.control === "choice") {
    const whole = typeof one.choices[0] === "number";
    return field(label, choice(one.choices.map((value) => [value, String(value).replaceAll("_", " ")]), method[one.name] ?? one.default, (value) => set(whole ? Number(value) : value)), one.help);
  }
  if (one.control === "switch") {
    const id = unique("switch");
    return h("div", { class: "field" }, h("label", { class: "check", for: id }, h("input", { type: "checkbox", id, checked: method[one.name] ?? one.default, onchange: (event) => set(event.target.checked) }), label), h("p", { class: "help" }, one.help));
  }
  if (one.control === "number") return number(method, one, label, set);
  if (one.control === "columns") return columns(method, one, label, set);
  if (one.control === "method") return nested(method[one.name] || fresh("microaggregation"), label, one.help, set, edited);
  return several(method, one, label, set, edited);
}

function number(method, one, label, set) {
  const id = unique("number");
  const value = method[one.name] ?? one.default;
  const given = value !== null && value !== undefined;
  const box = h("input", { type: "number", id, step: "any", value: given ? value : "", placeholder: one.optional ? "not set" : "", title: one.takes, "aria-describedby": `${id}-help`,
    oninput: () => { const text = box.value; if (range && text) range.value = text; set(text === "" ? undefined : Number(text)); } });
  const range = one.slider ? h("input", { type: "range", min: one.slider.low, max: one.slider.high, step: one.slider.step, "aria-label": `${label}, slider`, class: given ? "" : "unset",
    oninput: () => { box.value = range.value; range.classList.remove("unset"); set(Number(range.value)); } }) : null;
  if (range) range.value = given ? value : one.slider.start ?? one.slider.low;
  return h("div", { class: "field" }, h("label", { for: id }, label), h("div", { class: "slide" }, range, box), h("p", { class: "help", id: `${id}-help` }, one.help));
}

function columns(method, one, label, set) {
  const names = state.draft.attributes.filter((column) => column.role !== "identifier" && column.kind).map((column) => column.name);
  const chosen = new Set(method[one.name] || []);
  return h("fieldset", { class: "field" }, h("legend", {}, label), h("div", { class: "picks" }, names.map((name) => h("label", { class: "pick" },
    h("input", { type: "checkbox", checked: chosen.has(name), onchange: (event) => { if (event.target.checked) chosen.add(name); else chosen.delete(name); set(chosen.size ? names.filter((name) => chosen.has(name)) : undefined); } }), h("span", {}, name)))),
    h("p", { class: "help" }, one.help || "None chosen: the default."));
}

const simple = () => state.methods.methods.filter((one) => one.name !== "pipeline").map((one) => [one.name, words(one.name)]);

function nested(inner, label, help, set, edited) {
  const place = h("div", { class: "nested" });
  const draw = () => place.replaceChildren(methodForm(inner, edited));
  draw();
  return h("div", { class: "field" }, field(label, choice(simple(), inner.name, (name) => { inner = fresh(name); set(inner); draw(); }), help), place);
}

function several(method, one, label, set, edited) {
  const place = h("div", {});
  const draw = () => {
    const steps = method[one.name];
    place.replaceChildren(
      ...steps.map((step, at) => h("div", { class: "nested" },
        nested(step, `${at + 1}.`, "", (value) => { steps[at] = value; set(steps); }, edited),
        steps.length > 1 ? h("button", { type: "button", class: "link small", onclick: () => { set(steps.filter((_, other) => other !== at)); draw(); } }, `Leave out step ${at + 1}`) : null)),
      h("button", { type: "button", class: "button small", onclick: () => { set([...steps, fresh("rounding")]); draw(); } }, "Add a step"));
  };
  draw();
  return h("fieldset", { class: "field" }, h("legend", {}, label), place);
}
