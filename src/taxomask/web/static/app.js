// The page: which step is shown follows from the address, so that a reload or the back button finds it again.
"use strict";
import { get, post } from "./api.js";
import { h, problem as told, put, say } from "./dom.js";
import { compareStep } from "./compare.js";
import { describeStep } from "./describe.js";
import { lookStep } from "./look.js";
import { openStep } from "./open.js";
import { protectStep } from "./protect.js";
import { releaseStep } from "./release.js";
import { runsStep } from "./runs.js";

const STEPS = [["open", "Open"], ["describe", "Describe"], ["protect", "Protect"], ["look", "Look"], ["release", "Release"]];
const PAGES = { open: openStep, describe: describeStep, protect: protectStep, compare: compareStep, look: lookStep, release: releaseStep, runs: runsStep };
const NAMES = { open: "Open another table", describe: "Describe the columns", protect: "Choose how to protect it", compare: "Choose the methods to try" };

export const state = {
  start: null, // what the server says about itself
  methods: null, // the methods with their parameters
  table: null, // the table that is open, as the server describes it
  draft: null, // what was decided about it: attributes, people, method, grid, limits, format, what is accepted
};

// An error with the way to the step where it is mended, unless that is the one that is shown.
export function problem(error) {
  const here = location.hash.replace(/^#\/?/, "").split("/")[0] || "open";
  const step = error.step && NAMES[error.step] && (error.step === "open" || state.table?.attributes) ? error.step : null;
  const column = step === "describe" && state.draft?.attributes.some((one) => one.name === error.column) ? error.column : null;
  if (!step || (step === here && !column)) return told(error);
  const address = [step, ...(step === "open" ? [] : [state.table.id]), ...(column ? [column] : [])];
  return told(error, [`#/${address.map(encodeURIComponent).join("/")}`, column ? `Go to column ${column}` : NAMES[step]]);
}

// Every change is kept at once, so that a reload loses nothing; while one is on its way the next one waits.
let saving = null;
let again = false;
export function changed() {
  if (saving) again = true;
  else saving = send().catch(() => {}).finally(() => { saving = null; if (again) { again = false; changed(); } });
}
async function send() { if (state.table) await post(`/api/tables/${state.table.id}/draft`, state.draft); }
export async function save() { while (saving) await saving; }

// What was asked for takes a while: who has gone to another step since then is not taken away from it.
export async function follow(asking) {
  const from = location.hash;
  const address = await asking();
  if (location.hash === from) go(...address);
}

export function go(step, ...more) { location.hash = `#/${[step, ...more].map(encodeURIComponent).join("/")}`; }

// What a job is given: the draft as a plan.
export function plan(...more) {
  const { attributes, people, method, limits, accept, missing_cells, purpose, recipient, analyses, attackers } = state.draft;
  const kept = Object.fromEntries(Object.entries(limits || {}).filter(([, value]) => value !== null));
  return Object.assign({ attributes: attributes.map(entry), ...people, method, ...(Object.keys(kept).length ? { limits: kept } : {}), ...(accept?.length ? { accept } : {}), ...(missing_cells ? { missing_cells } : {}), ...(purpose ? { purpose } : {}), ...(recipient ? { recipient } : {}), ...(analyses?.length ? { analyses } : {}), ...(attackers?.length ? { attackers } : {}) }, ...more);
}

// An attribute as a plan has it: only what its kind has, and nothing but its leader if it follows another column.
export function entry(attribute) {
  const only = { decimals: "continuous", notation: "continuous", open_ends: "continuous", coarsen: "continuous", order: "ordinal", taxonomy: "taxonomic", distance: "taxonomic", match: "taxonomic", normalize: "taxonomic", unmapped: "taxonomic" };
  const follows = attribute.role === "other" && attribute.follows; // it has no kind of its own then
  const kept = (key) => (key === "note" ? attribute.note && attribute.note !== drafted(attribute.name) : key === "follows" ? follows : follows && (key === "kind" || only[key]) ? false : !only[key] || only[key] === attribute.kind);
  return Object.fromEntries(Object.entries(attribute).filter(([key]) => kept(key)));
}

// What the draft says of a column is evidence for who decides; a plan has reasons that somebody gave.
export const drafted = (name) => state.table.attributes.find((one) => one.name === name)?.note || "";

export async function startJob(task, more = {}, extra = {}) {
  await save();
  const { id } = await post(`/api/tables/${state.table.id}/jobs`, { task, plan: plan(more), ...extra });
  state.table.jobs.unshift({ id, task, state: "queued" });
  return id;
}

export const latest = (task, over = "") => state.table?.jobs.find((job) => job.task === task && (!over || job.state === over));

async function load(table) {
  if (!state.start) state.start = await get("/api/start");
  if (table && state.table?.id !== table) {
    const [found, methods] = await Promise.all([get(`/api/tables/${table}`), state.methods || get("/api/methods")]);
    state.methods = methods;
    state.table = found;
    if (!found.choose) state.draft = { attributes: structuredClone(found.attributes), people: found.people, method: null, grid: null, limits: {}, format: "", accept: [], ...found.draft };
  }
  if (!table) state.table = state.draft = null;
}

let shown = 0; // steps that come to be shown while another is on its way are dropped
async function show() {
  const mine = (shown += 1);
  if (saving) await save();
  const [step = "open", table, ...more] = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  const main = document.getElementById("content");
  const name = PAGES[step] ? step : "open";
  drawSteps(name, name === "open" ? null : table, more[0]);
  main.replaceChildren(h("p", { class: "waiting" }, name === "describe" ? "Reading the table…" : "One moment…"));
  try {
    await load(name === "open" ? null : table);
    if (name !== "open" && !state.table) { go("open"); return; }
    if (name !== "open" && state.table.choose) { put(main, whichSheet(state.table)); return; }
    drawSteps(name, table, more[0]);
    const page = h("div", { class: `step ${name}` });
    await PAGES[name](page, ...more);
    if (mine !== shown) return;
    main.replaceChildren(page);
  } catch (error) {
    if (mine !== shown) return;
    main.replaceChildren(h("div", { class: "step" }, h("h1", { tabindex: "-1" }, "This did not work"), told(error), h("p", {}, h("a", { class: "button", href: "#/open" }, "Open another table"))));
  }
  const title = main.querySelector("h1");
  document.title = `${title ? title.textContent : "taxomask"} · taxomask`;
  if (title) { title.tabIndex = -1; title.focus({ preventScroll: true }); say(title.textContent); }
  scrollTo(0, 0);
}

// A workbook with several sheets: one has to be chosen.
function whichSheet(table) {
  const messages = h("div", {});
  const choose = async (sheet) => {
    try { await post(`/api/tables/${table.id}/sheet`, { sheet }); state.table = null; show(); } catch (error) { put(messages, problem(error)); }
  };
  return h("div", { class: "step" }, h("h1", { tabindex: "-1" }, "Which sheet?"), h("p", { class: "lead" }, h("b", {}, table.name), ` has ${Object.keys(table.choose).length} sheets that hold something. One of them is the table; the others are not looked at.`),
    h("ul", { class: "files card-box" }, Object.entries(table.choose).map(([sheet, said]) => h("li", {}, h("button", { type: "button", onclick: () => choose(sheet) }, h("b", {}, said))))), messages);
}

function drawSteps(current, table, job) {
  const at = STEPS.findIndex(([name]) => name === ({ compare: "protect", runs: "look" }[current] || current));
  const done = job && ["look", "release"].includes(current) ? job : latest("protect", "done")?.id || latest("protect")?.id;
  const items = STEPS.map(([name, label], number) => {
    const parts = name === "open" ? [name] : ["look", "release"].includes(name) ? [name, table, done] : [name, table];
    const reachable = name === "open" || (table && (parts.length < 3 || done));
    const inner = [h("span", { class: "number", "aria-hidden": "true" }, String(number + 1)), h("span", { class: "label" }, label)];
    const here = number === at ? { "aria-current": "step" } : {};
    return h("li", { class: number === at ? "here" : number < at ? "past" : "" },
      reachable ? h("a", { href: `#/${parts.map(encodeURIComponent).join("/")}`, ...here }, inner) : h("span", { class: "off" }, inner));
  });
  document.getElementById("steps").replaceChildren(...items);
}

document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); document.getElementById("content").focus(); });
addEventListener("hashchange", show);
show();
