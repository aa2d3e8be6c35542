// Open: upload a file, choose one in the folder of the server, or try the example.
"use strict";
import { get, post, upload } from "./api.js";
import { h, put, say } from "./dom.js";
import { follow, problem, state } from "./app.js";

export async function openStep(page) {
  const messages = h("div", {});
  const opened = async (making, text) => {
    messages.replaceChildren(h("p", { class: "waiting" }, text));
    say(text);
    try { await follow(async () => ["describe", (await making()).id]); } catch (error) { messages.replaceChildren(problem(error)); }
  };
  const send = (files) => opened(async () => {
    const large = files.find((file) => file.size > state.start.upload);
    if (large) throw Object.assign(new Error(`${large.name} has more than ${Math.round(state.start.upload / 1e6)} MB.`), { hint: "Start the server for its folder: taxomask serve FOLDER" });
    const [table, plan, others] = await sorted(files);
    const { id } = await upload("/api/upload", table);
    for (const file of others) await upload(`/api/tables/${id}/taxonomy`, file);
    if (plan) await take(id, () => upload(`/api/tables/${id}/plan`, plan));
    return { id };
  }, `Taking in ${files.map((file) => file.name).join(", ")}…`);

  const input = h("input", { type: "file", id: "file", class: "unseen", multiple: true, onchange: (event) => event.target.files.length && send([...event.target.files]) });
  const drop = h("div", { class: "drop" },
    h("p", { class: "big" }, "Drop a table here"),
    h("p", { class: "soft" }, "CSV, Excel, Parquet, SPSS, Stata or SAS; with its plan and taxonomies, if you have them"), input,
    h("label", { for: "file", class: "button primary" }, "Choose a file"));
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files.length) send([...event.dataTransfer.files]); });

  page.append(
    h("h1", {}, "Which table do you want to protect?"),
    h("p", { class: "lead" }, "It stays on this computer: the page, the server and the copies it makes are all here, and the copies are removed when the server ends."),
    h("div", { class: "two" },
      drop,
      h("section", { class: "card-box" }, h("h2", {}, "No table at hand?"),
        h("p", {}, "2,000 real hospital discharges with diagnoses in ICD-9-CM come with taxomask."),
        h("button", { type: "button", class: "button", onclick: () => opened(() => post("/api/tables", { example: "discharges" }), "Opening the example…") }, "Try the example"))),
    messages);
  if (state.start.folder !== null) {
    const place = h("section", { class: "card-box" });
    page.append(place);
    await list(place, "", (path) => opened(async () => {
      if (!PLAN.test(path)) return post("/api/tables", { path });
      const { id } = await post("/api/tables", { plan: path });
      await take(id, () => post(`/api/tables/${id}/plan`, { path }));
      return { id };
    }, `Opening ${path}…`));
  }
}

const PLAN = /\.(ya?ml|audit\.json)$/i;

// A plan as the draft of a table that was just opened.
async function take(id, asking) {
  const { notes, ...said } = await asking();
  await post(`/api/tables/${id}/draft`, { ...said, opened: notes });
}

// Which of several files is the table, which the plan, and which are taxonomies: the plan names its table.
async function sorted(files) {
  const plans = files.filter((file) => PLAN.test(file.name));
  const rest = files.filter((file) => !plans.includes(file));
  const named = plans.length === 1 ? (await plans[0].text()).match(/"?\bdata"?:\s*['"]?([^'"\n,]+)/)?.[1].trim().replace(/#.*$/, "") : null;
  const table = rest.length === 1 ? rest[0] : rest.find((file) => file.name === named);
  if (plans.length > 1 || (!table && rest.length)) throw Object.assign(new Error("Which of these files is the table?"), { hint: "Choose the table alone, or with the plan that names it. Taxonomies can be added at its columns." });
  if (!table) throw Object.assign(new Error("A plan needs the table that it is for."), { hint: "Choose both files together." });
  return [table, plans[0], rest.filter((file) => file !== table)];
}

async function list(place, path, choose) {
  const found = await get(`/api/folder?path=${encodeURIComponent(path)}`);
  const enter = (to) => list(place, to, choose);
  const parts = path ? path.split("/") : [];
  const trail = h("p", { class: "trail" }, h("button", { type: "button", class: "link", onclick: () => enter("") }, state.start.folder),
    parts.map((part, number) => [" / ", h("button", { type: "button", class: "link", onclick: () => enter(parts.slice(0, number + 1).join("/")) }, part)]));
  put(place, h("h2", {}, "Or choose one in the opened folder"), h("p", { class: "soft small" }, "A plan, or the audit of an earlier release, opens its table as it was described."), trail,
    h("ul", { class: "files" },
      found.folders.map((one) => h("li", {}, h("button", { type: "button", onclick: () => enter(one.path) }, h("b", {}, `${one.name}/`)))),
      found.files.map((one) => h("li", {}, h("button", { type: "button", onclick: () => choose(one.path) }, h("b", {}, one.name), h("span", { class: "soft" }, size(one.bytes)))))),
    found.files.length + found.folders.length ? null : h("p", { class: "soft" }, "There is nothing in it."));
}

const size = (bytes) => bytes < 1e3 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
