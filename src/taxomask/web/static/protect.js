// Protect: which method, with which parameters, and what must hold.
"use strict";
import { get, post } from "./api.js";
import { choice, field, h, put, thousands, words } from "./dom.js";
import { changed, follow, plan, problem, startJob, state } from "./app.js";
import { analysesForm, attackersForm } from "./analyses.js";
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
  const radio = (one, why = "") => h("label", { class: "method" },
    h("input", { type: "radio", name: "method", value: one.name, checked: draft.method.name === one.name, onchange: () => { draft.method = fresh(one.name); edited(); drawForm(); } }),
    h("span", {}, h("b", {}, words(one.name)), h("span", { class: "small soft" }, one.about), why ? h("span", { class: "small warns" }, why) : null));
  const methods = h("fieldset", { class: "methods" });
  const drawMethods = (fitting) => {
    const focused = methods.contains(document.activeElement) ? document.activeElement.value : null;
    put(methods, h("legend", {}, "Method"), grouped(fitting, radio, draft.method.name));
    if (focused) methods.querySelector(`input[value="${focused}"]`)?.focus();
  };
  drawMethods(null);
  drawForm();
  post(`/api/tables/${table.id}/fitting`, { plan: { ...plan(), method: undefined, analyses: undefined, limits: undefined, accept: undefined }, methods: state.methods.methods.map((one) => fresh(one.name)) })
    .then(drawMethods).catch((error) => { if (error.step === "describe") put(messages, problem(error)); });

  const limit = (name, label, help, most) => field(label, h("input", { type: "number", min: 0, max: most, step: "any", placeholder: "no limit", value: draft.limits?.[name] ?? "",
    oninput: (event) => { draft.limits = { ...draft.limits, [name]: event.target.value === "" ? null : Number(event.target.value) }; edited(); } }), help);
  const text = (name, label, help) => field(label, h("input", { type: "text", class: "sentence", maxlength: 500, value: draft[name] || "", oninput: (event) => { draft[name] = event.target.value.trim(); edited(); } }), help);
  const run = async () => {
    try {
      await follow(async () => {
        await post(`/api/tables/${table.id}/check`, plan());
        return ["look", table.id, await startJob("protect", {}, { format: draft.format })];
      });
    } catch (error) { put(messages, problem(error)); }
  };
  const estimate = async () => {
    time.textContent = "Trying it on a sample…";
    try {
      const job = await startJob("estimate");
      const found = await finished(job);
      if (found.state !== "done") throw found.error || new Error("It was cancelled.");
      time.textContent = `About ${spoken(found.result.seconds)} for ${thousands(found.result.rows)} records, measured on ${thousands(found.result.sample)}.`;
    } catch (error) { time.textContent = ""; put(messages, problem(error)); }
  };
  const roles = (role) => { const names = draft.attributes.filter((one) => one.role === role).map((one) => one.name); return names.length ? `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}` : "no column"; };
  const runs = table.jobs.filter((one) => one.task === "protect").length;
  page.append(
    h("h1", {}, "How should it be protected?"),
    h("p", { class: "lead" }, "Quasi-identifiers: ", h("b", {}, roles("quasi_identifier")), ". Confidential: ", h("b", {}, roles("confidential")), ".", runs ? [" ", h("a", { href: `#/runs/${table.id}` }, "What was tried before")] : null),
    h("p", { class: "banner" }, h("span", {}, "Not sure which one? Try several and see which keeps most at an acceptable risk."), h("a", { class: "button", href: `#/compare/${table.id}` }, "Compare methods")),
    h("div", { class: "choose" }, methods, h("div", { class: "card-box parameters" }, form,
      h("details", { class: "settings" }, h("summary", {}, "What it is for"),
        text("purpose", "Purpose", "What the table is released for. The report, which can be printed and signed, begins with it."),
        text("recipient", "Recipient", "To whom it is released.")),
      h("details", { class: "settings" }, h("summary", {}, "What users will compute"), analysesForm(draft, edited)),
      h("details", { class: "settings" }, h("summary", {}, "Who may try to find people"), attackersForm(draft, edited)),
      h("details", { class: "settings" }, h("summary", {}, "What must hold, and the format"),
        limit("risk", "Largest risk", "The share of records that the best attacker may link rightly, 0 to 1. If it is larger, nothing is released.", 1),
        limit("disclosure", "Largest disclosure", "How much of what a guess leaves open may be learnt of confidential values, 0 to 1. If it is larger, nothing is released.", 1),
        limit("loss", "Largest loss", "The mean over the protected columns: 0 is none, 1 is every value replaced by the average. If it is larger, nothing is released.", undefined),
        limit("worst_loss", "Largest loss of a column", "The loss of the protected column that lost most. If it is larger, nothing is released.", undefined),
        limit("analyses", "Smallest overlap of an analysis", "How much of the confidence intervals of each of your analyses must be kept, 0 to 1. If it is less, nothing is released.", 1),
        field("Missing cells of protected columns", choice([["", "are where the method leaves them"], ["permute", "are moved to records drawn at random"]], draft.missing_cells || "", (value) => { draft.missing_cells = value; edited(); }), "Which cells are missing can be a fingerprint. They can be moved after methods that swap, draw or add noise."),
        field("Format of the protected table", choice([["", "as the original"], ...state.methods.formats], draft.format, (value) => { draft.format = value; edited(); }))))),
    messages,
    h("div", { class: "foot" }, h("div", {}, time, h("button", { type: "button", class: "link small", onclick: estimate }, "How long will it take?")),
      h("button", { type: "button", class: "button primary", onclick: run }, "Protect the table")));
}

const PROMISES = {
  alike: ["At least k records look alike", "in all quasi-identifiers together: no record, or person if a column names them, is alone by these"],
  chances: ["A value could be that of any of k records", "with equal chance; it stands in the row of one of them"],
  bound: ["A proven bound on what a value tells", "whatever somebody knows already"],
  steps: ["What the steps promise", "each of them, on the table that is released"],
  values: ["Something about the values only", "how easily people are found has to be measured: look at the risk"],
};

// Methods by what they promise for these columns; those that do not fit them come last, with the reason.
function grouped(fitting, radio, chosen) {
  const { methods } = state.methods;
  if (!fitting) return methods.map((one) => radio(one));
  const known = new Map(fitting.map((one) => [one.name, one]));
  const of = (family) => methods.filter((one) => known.get(one.name)?.fits && known.get(one.name).promises === family);
  const groups = Object.entries(PROMISES).filter(([family]) => of(family).length).map(([family, [title, about]]) => h("div", { class: "promise", role: "group", "aria-label": title }, h("p", { class: "promise-title" }, h("b", {}, title), " ", h("span", { class: "small soft" }, about)), of(family).map((one) => radio(one))));
  const rest = methods.filter((one) => !known.get(one.name)?.fits);
  return [...groups, rest.length ? h("details", { class: "promise", open: rest.some((one) => one.name === chosen) }, h("summary", {}, `${rest.length} ${rest.length === 1 ? "does" : "do"} not fit these columns`), rest.map((one) => radio(one, known.get(one.name)?.why))) : null];
}

async function finished(job) {
  for (;;) {
    const found = await get(`/api/jobs/${job}`);
    if (["done", "failed", "cancelled"].includes(found.state)) return found;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

export const spoken = (seconds) => seconds < 1 ? "a second" : seconds < 90 ? `${Math.round(seconds)} seconds` : seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`;
