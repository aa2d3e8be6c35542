// Release: the files, who each of them is for, and the same work as a command.
"use strict";
import { get } from "./api.js";
import { badge, called, h } from "./dom.js";
import { latest, state } from "./app.js";

export async function releaseStep(page, id) {
  const job = await get(`/api/jobs/${id || latest("protect", "done")?.id || "none"}`);
  page.append(h("h1", {}, "Ready to release"));
  if (job.state !== "done") { page.append(h("p", {}, "This work is not done."), h("a", { class: "button", href: `#/look/${state.table.id}/${job.id}` }, "Look at it")); return; }
  const { result } = job;
  const file = (name, title, about, kind) => h("li", {}, h("div", {}, h("b", {}, title), badge(kind === "public" ? "for others" : "only for you", kind === "public" ? "good" : "bad"), h("p", { class: "soft small" }, about)),
    h("a", { class: kind === "public" ? "button primary" : "button", href: `/api/jobs/${job.id}/files/${encodeURIComponent(name)}`, download: name }, `Download ${name}`));
  const copied = h("span", { class: "small soft", role: "status" });
  page.append(
    h("p", { class: "lead" }, h("b", {}, called(result.plan.method)), ` on ${state.table.name}. The table was written, read back and checked.`),
    h("ul", { class: "downloads" },
      result.tables.map((name, at) => file(name, result.tables.length > 1 ? `Protected table ${at + 1}` : "Protected table", "Rows are in a new random order.", "public")),
      file(result.files.note, "Public note", "What was done, in words: no seed, no strength of the method, no figure of the original table. Publish it with the table.", "public"),
      file(result.files.audit, "Private audit", "How it was made, with the seed: it can undo the protection. Keep it safe, do not publish it.", "private"),
      file(result.files.report, "Report", "What it cost and what it risks. It tells how close the table is to the original: do not publish it.", "private"),
      file(result.files.plan, "Plan", "The columns and the method, to do the same again.", "private")),
    h("section", { class: "card-box" }, h("h2", {}, "The same as a command"),
      h("p", { class: "soft" }, `Save the plan beside ${state.table.name}, then run this there. The seed makes it the very same table, so keep it private.`),
      h("pre", { class: "command", tabindex: "0" }, h("code", {}, result.command)),
      h("div", { class: "row" }, h("button", { type: "button", class: "button small", onclick: async () => { try { await navigator.clipboard.writeText(result.command); copied.textContent = "Copied."; } catch { copied.textContent = "Select it and copy it."; } } }, "Copy"), copied)),
    h("details", { class: "card-box" }, h("summary", {}, h("b", {}, "The public note")), h("pre", { class: "note", tabindex: "0" }, result.note)),
    h("details", { class: "card-box", ontoggle: (event) => { if (event.target.open && !event.target.querySelector("iframe")) event.target.append(h("iframe", { src: `/jobs/${job.id}/report`, sandbox: "allow-scripts", title: "The report" })); } }, h("summary", {}, h("b", {}, "The report"))));
}
