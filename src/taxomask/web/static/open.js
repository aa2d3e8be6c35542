// Open: upload a file, choose one in the folder of the server, or try the example.
"use strict";
import { get, post, upload } from "./api.js";
import { h, problem, say } from "./dom.js";
import { go, state } from "./app.js";

export async function openStep(page) {
  const messages = h("div", {});
  const opened = async (making, text) => {
    messages.replaceChildren(h("p", { class: "waiting" }, text));
    say(text);
    try { go("describe", (await making()).id); } catch (error) { messages.replaceChildren(problem(error)); }
  };
  const send = (file) => opened(() => {
    if (file.size > state.start.upload) {
      throw Object.assign(new Error(`The file has more than ${Math.round(state.start.upload / 1e6)} MB.`), { hint: "Start the server for its folder: taxomask serve FOLDER" });
    }
    return upload("/api/upload", file);
  }, `Taking in ${file.name}…`);

  const input = h("input", { type: "file", id: "file", class: "unseen", onchange: (event) => event.target.files[0] && send(event.target.files[0]) });
  const drop = h("div", { class: "drop" },
    h("p", { class: "big" }, "Drop a table here"),
    h("p", { class: "soft" }, "CSV, Excel, Parquet, SPSS, Stata or SAS"), input,
    h("label", { for: "file", class: "button primary" }, "Choose a file"));
  for (const kind of ["dragover", "dragenter"]) drop.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over"); });
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) send(event.dataTransfer.files[0]); });

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
    await list(place, "", (path) => opened(() => post("/api/tables", { path }), `Opening ${path}…`));
  }
}

async function list(place, path, choose) {
  const found = await get(`/api/folder?path=${encodeURIComponent(path)}`);
  const enter = (to) => list(place, to, choose);
  const parts = path ? path.split("/") : [];
  const trail = h("p", { class: "trail" }, h("button", { type: "button", class: "link", onclick: () => enter("") }, state.start.folder),
    parts.map((part, number) => [" / ", h("button", { type: "button", class: "link", onclick: () => enter(parts.slice(0, number + 1).join("/")) }, part)]));
  place.replaceChildren(h("h2", {}, "Or choose one in the opened folder"), trail,
    h("ul", { class: "files" },
      found.folders.map((one) => h("li", {}, h("button", { type: "button", onclick: () => enter(one.path) }, h("b", {}, `${one.name}/`)))),
      found.files.map((one) => h("li", {}, h("button", { type: "button", onclick: () => choose(one.path) }, h("b", {}, one.name), h("span", { class: "soft" }, size(one.bytes)))))),
    found.files.length + found.folders.length ? null : h("p", { class: "soft" }, "There is nothing in it."));
}

const size = (bytes) => bytes < 1e3 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
