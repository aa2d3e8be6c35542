// Protect: which method, with which parameters, and what must hold.
"use strict";
import { get, post } from "./api.js";
import { choice, field, h, problem, thousands, words } from "./dom.js";
import { changed, go, plan, startJob, state } from "./app.js";
import { described, fresh, methodForm } from "./forms.js";

export async function protectStep(page) {
  const { draft, table } = state;
  const quasi = draft.attributes.some((one) => one.role === "quasi_identifier");
  draft.method ||= fresh(quasi ? "microaggregation" : "shuffling");
  const messages = h("div", {});
  const form = h("div", {});
  const time = h("p", { class: "small soft", "aria-live": "polite" }, `${thousands(table.rows)} records.`);
  const edited = () => { changed(); messages.replaceChildren(); };

  const drawForm = () => {
    const method = described(draft.method.name);
    form.replaceChildren(h("h2", {}, words(method.name)), h("p", {}, method.about), h("p", { class: "small soft" }, method.reference), methodForm(draft.method, edited));
  };
  const methods = h("fieldset", { class: "methods" }, h("legend", {}, "Method"), state.methods.methods.map((one) => h("label", { class: "method" },
    h("input", { type: "radio", name: "method", value: one.name, checked: draft.method.name === one.name, onchange: () => { draft.method = fresh(one.name); edited(); drawForm(); } }),
    h("span", {}, h("b", {}, words(one.name)), h("span", { class: "small soft" }, one.about)))));
  drawForm();

  const limit = (name, label, help, most) => field(label, h("input", { type: "number", min: 0, max: most, step: "any", placeholder: "no limit", value: draft.limits?.[name] ?? "",
    oninput: (event) => { draft.limits = { ...draft.limits, [name]: event.target.value === "" ? null : Number(event.target.value) }; edited(); } }), help);
  const text = (name, label, help) => field(label, h("input", { type: "text", maxlength: 500, value: draft[name] || "", oninput: (event) => { draft[name] = event.target.value.trim(); edited(); } }), help);
  const run = async () => {
    try {
      await post(`/api/tables/${table.id}/check`, plan());
      go("look", table.id, await startJob("protect", {}, { format: draft.format }));
    } catch (error) { messages.replaceChildren(problem(error)); }
  };
  const estimate = async () => {
    time.textContent = "Trying it on a sample…";
    try {
      const job = await startJob("estimate");
      const found = await finished(job);
      if (found.state !== "done") throw found.error || new Error("It was cancelled.");
      time.textContent = `About ${spoken(found.result.seconds)} for ${thousands(found.result.rows)} records, measured on ${thousands(found.result.sample)}.`;
    } catch (error) { time.textContent = ""; messages.replaceChildren(problem(error)); }
  };
  const roles = (role) => draft.attributes.filter((one) => one.role === role).map((one) => one.name).join(", ") || "none";
  page.append(
    h("h1", {}, "How should it be protected?"),
    h("p", { class: "lead" }, "Quasi-identifiers: ", h("b", {}, roles("quasi_identifier")), ". Confidential: ", h("b", {}, roles("confidential")), "."),
    h("p", { class: "banner" }, h("span", {}, "Not sure which one? Try several and see which keeps most at an acceptable risk."), h("a", { class: "button", href: `#/compare/${table.id}` }, "Compare methods")),
    h("div", { class: "choose" }, methods, h("div", { class: "card-box parameters" }, form,
      h("details", { class: "settings" }, h("summary", {}, "What it is for"),
        text("purpose", "Purpose", "What the table is released for. The report, which can be printed and signed, begins with it."),
        text("recipient", "Recipient", "To whom it is released.")),
      h("details", { class: "settings" }, h("summary", {}, "What must hold, and the format"),
        limit("risk", "Largest risk", "The share of records that the best attacker may link rightly, 0 to 1. If it is larger, nothing is released.", 1),
        limit("disclosure", "Largest disclosure", "How much of what a guess leaves open may be learnt of confidential values, 0 to 1. If it is larger, nothing is released.", 1),
        limit("loss", "Largest loss", "The mean over the protected columns: 0 is none, 1 is every value replaced by the average. If it is larger, nothing is released.", undefined),
        limit("worst_loss", "Largest loss of a column", "The loss of the protected column that lost most. If it is larger, nothing is released.", undefined),
        field("Missing cells of protected columns", choice([["", "are where the method leaves them"], ["permute", "are moved to records drawn at random"]], draft.missing_cells || "", (value) => { draft.missing_cells = value; edited(); }), "Which cells are missing can be a fingerprint. They can be moved after methods that swap, draw or add noise."),
        field("Format of the protected table", choice([["", "as the original"], ...state.methods.formats], draft.format, (value) => { draft.format = value; edited(); }))))),
    messages,
    h("div", { class: "foot" }, h("div", {}, time, h("button", { type: "button", class: "link small", onclick: estimate }, "How long will it take?")),
      h("button", { type: "button", class: "button primary", onclick: run }, "Protect the table")));
}

async function finished(job) {
  for (;;) {
    const found = await get(`/api/jobs/${job}`);
    if (["done", "failed", "cancelled"].includes(found.state)) return found;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

export const spoken = (seconds) => seconds < 1 ? "a second" : seconds < 90 ? `${Math.round(seconds)} seconds` : seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`;
