// Elements without markup: text from tables is only ever set as text.
"use strict";

export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden" || name === "open" || name === "selected") element[name] = value;
    else if (name === "style") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

let count = 0;
export const unique = (name) => `${name}-${(count += 1)}`;

export const words = (name) => { const text = name.replaceAll("_", " "); return text.length > 1 ? text[0].toUpperCase() + text.slice(1) : text; };
// A method as people say it: "Microaggregation, k 5, algorithm refined".
export function called(method) {
  const said = (value) => value === true ? "yes" : value === false ? "no" : Array.isArray(value) ? value.map(said).join(" and ") : value?.name ? `(${called(value)})` : value && typeof value === "object" ? Object.entries(value).map(([key, one]) => `${key} ${said(one)}`).join(" and ") : String(value).replaceAll("_", " ");
  const { name, ...rest } = method;
  return [words(name), ...Object.entries(rest).filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => `${key.replaceAll("_", " ")} ${said(value)}`)].join(", ");
}
export const thousands = (value) => Number(value).toLocaleString("en-US");
export const say = (text) => { document.getElementById("live").textContent = text; };

// What went wrong, in which words, and the way to the step where it is mended: ``where`` is its address.
export function problem(error, where = null) {
  const [address, label] = where || [];
  const alert = h("div", { class: "problem", role: "alert" },
    h("b", {}, error.message || String(error)), error.hint ? h("p", {}, error.hint) : null, address ? h("p", {}, h("a", { href: address }, label)) : null);
  requestAnimationFrame(() => alert.scrollIntoView({ block: "center" })); // the bar at the foot would hide it
  return alert;
}

// Replace what is in a place; nothing stands for what is not there.
export const put = (place, ...children) => place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));

export function field(label, control, help) {
  control.id ||= unique("field");
  const about = help ? h("p", { class: "help", id: `${control.id}-help` }, help) : null;
  if (about) control.setAttribute("aria-describedby", about.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, about);
}

export function choice(values, chosen, onchange, properties = {}) {
  const options = values.map((one) => {
    const [value, label] = Array.isArray(one) ? one : [one, String(one)];
    return h("option", { value, selected: String(value) === String(chosen) }, label);
  });
  return h("select", { ...properties, onchange: (event) => onchange(event.target.value) }, options);
}

export function badge(text, kind = "") { return h("span", { class: `badge ${kind}` }, text); }

// ---------------------------------------------------------------------------- figures

// Figures are drawn by the server as SVG. They are parsed into a document of their own, where nothing runs, and
// only shapes and texts are taken over from there.
const policy = globalThis.trustedTypes?.createPolicy("figures", { createHTML: (text) => text });
const SHAPES = new Set(["svg", "g", "rect", "line", "polyline", "circle", "text", "title", "div", "span", "i"]);
const SETTINGS = new Set(["class", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r", "width", "height", "points", "viewBox",
  "transform", "text-anchor", "fill-opacity", "role", "aria-label", "tabindex", "data-point", "data-limit"]);

export function figure(text) {
  const parsed = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "text/html");
  const place = h("div", { class: "figure" });
  for (const child of parsed.body.childNodes) place.append(taken(child));
  for (const svg of place.querySelectorAll("svg")) {
    if (svg.querySelector("[tabindex]")) svg.setAttribute("role", "group");
    const [, , width] = (svg.getAttribute("viewBox") || "0 0 400 1").split(" ");
    svg.style.setProperty("max-width", `${Number(width)}px`);
  }
  return place;
}

function taken(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || !SHAPES.has(node.localName)) return document.createTextNode("");
  const copy = document.createElementNS(node.namespaceURI, node.localName);
  for (const { name, value } of node.attributes) if (SETTINGS.has(name)) copy.setAttribute(name, value);
  for (const child of node.childNodes) copy.append(taken(child));
  return copy;
}

export function sparkline(bars, label) {
  const top = Math.max(1, ...bars.map((one) => one.count));
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 120 30");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  svg.setAttribute("preserveAspectRatio", "none");
  const step = 120 / Math.max(bars.length, 1);
  bars.forEach((one, number) => {
    const height = Math.max((one.count / top) * 28, one.count ? 1 : 0);
    const rect = document.createElementNS(space, "rect");
    const settings = { x: number * step + 0.4, y: 30 - height, width: Math.max(step - 0.8, 0.4), height };
    for (const [name, value] of Object.entries(settings)) rect.setAttribute(name, value.toFixed(2));
    const title = document.createElementNS(space, "title");
    title.textContent = `${one.label || "(empty)"}: ${thousands(one.count)}`;
    rect.append(title);
    svg.append(rect);
  });
  return svg;
}
