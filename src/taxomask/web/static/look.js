// Look: how far the work is; then what it cost and what it risks.
"use strict";
import { get } from "./api.js";
import { called, figure, h } from "./dom.js";
import { go, latest, problem, state } from "./app.js";
import { beforeAndAfter } from "./rows.js";
import { showMap } from "./compare.js";
import { KINDS } from "./describe.js";
import { waysOut } from "./leaks.js";
import { watch } from "./progress.js";

export async function lookStep(page, id) {
  const job = id || latest("protect")?.id;
  const { table } = state;
  const title = h("h1", {}, "At work");
  const done = (last) => { title.textContent = "What did it cost, and what does it risk?"; result.replaceChildren(...found(last)); };
  page.append(title);
  if (!job) { title.textContent = "Nothing to look at yet"; page.append(h("p", {}, "Nothing was protected yet."), h("a", { class: "button", href: `#/protect/${table.id}` }, "Choose a method")); return; }
  const progress = h("div", {});
  const result = h("div", {});
  page.append(progress, result);
  const now = await get(`/api/jobs/${job}`);
  if (now.state === "done") { done(now); return; }
  watch(job, progress, "Protecting the table").then((last) => {
    if (last.state === "done") done(last);
    else if (last.error?.leaks?.length) { title.textContent = "Something else lets it out"; result.replaceChildren(...waysOut(last.error.leaks)); }
    else if (["failed", "cancelled"].includes(last.state)) { title.textContent = last.state === "failed" ? "This did not work" : "Cancelled"; result.replaceChildren(h("a", { class: "button", href: `#/protect/${table.id}` }, "Change the method")); }
  }).catch((error) => progress.replaceChildren(problem(error)));
}

function found(job) {
  const { result, id } = job;
  const { table } = state;
  const same = result.columns.filter((one) => one.figure && one.same);
  const holds = result.checks.every((one) => one.holds);
  const map = latest("compare");
  const place = h("div", {});
  if (map) showMap(place, map.id).catch(() => place.replaceChildren());
  return [
    h("p", { class: "lead" }, h("b", {}, called(result.plan.method)), ` on ${table.name}`, `, in ${job.seconds.toFixed(1)} s.`),
    h("div", { class: "cards" }, result.cards.map((card) => h("div", { class: "panel card" }, h("b", {}, card.value), card.name, h("span", {}, card.about)))),
    h("section", { class: "card-box promises" }, h("h2", {}, holds ? "Every promise holds" : "A promise does not hold"),
      h("p", { class: "soft small" }, `Checked on the protected table, after it was written and read back. ${result.by_chance}`),
      h("ul", {}, result.checks.map((one) => h("li", { class: one.verdict === "counted" ? "" : one.holds ? "yes" : "no" }, h("span", {}, one.promise), h("span", { class: "soft small" }, one.found)))),
      result.notes.length ? [h("h3", {}, "To know"), h("ul", { class: "plain" }, result.notes.map((note) => h("li", {}, note)))] : null),
    h("h2", {}, "Column by column"),
    h("p", { class: "soft" }, "Loss: 0 if nothing changed, 1 if every value was replaced by the average of the column. Values changed: the share of cells that are not what they were. Linked by it alone: the share of records found rightly by an intruder who holds this column only. Disclosed in an interval: the share of original values close to the released one, within 5 % of the ranks or among the nearest codes."),
    h("div", { class: "card-box wide", tabindex: "0", role: "region", "aria-label": "Loss and risk of each column" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "column"), h("th", { scope: "col" }, "kind"), ["loss", "values changed", "linked by it alone", "disclosed in an interval"].map((one) => h("th", { scope: "col", class: "n" }, one)))),
      h("tbody", {}, result.columns.map((one) => h("tr", {}, h("th", { scope: "row" }, one.name), h("td", {}, kinds.get(one.kind)), [one.loss, one.changed, one.linked, one.interval].map((cell) => h("td", { class: "n" }, cell))))))),
    result.rows ? beforeAndAfter(result.rows) : null,
    h("p", { class: "legend" }, h("span", { class: "key" }, h("i", { class: "dot was" }), "before"), h("span", { class: "key" }, h("i", { class: "dot hue0" }), "after")),
    charts(result.columns.filter((one) => one.figure && !one.same)),
    same.length ? h("details", { class: "card-box" }, h("summary", {}, `Charts of the ${same.length === 1 ? "column" : `${same.length} columns`} in which nothing changed`), charts(same)) : null,
    result.correlations ? [h("h2", {}, "How columns go together"), h("p", { class: "soft" }, `Distance correlation of every pair: 0 is none, 1 is complete dependence.${result.left_out ? ` ${result.left_out} columns are left out; these changed most.` : ""}`),
      h("div", { class: "figures pairs" }, result.correlations.map((one, at) => h("figure", {}, h("figcaption", {}, h("b", {}, at ? "after" : "before")), figure(one))))] : null,
    result.sections.map((section) => h("details", { class: "card-box" }, h("summary", {}, h("b", {}, section.title)), section.about ? h("p", { class: "soft" }, section.about) : null,
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": section.title }, h("table", {}, h("thead", {}, h("tr", {}, section.header.map((one, at) => one ? h("th", { scope: "col", class: number(section, at) }, one) : h("td", {})))),
        h("tbody", {}, section.rows.map((row) => h("tr", {}, h("th", { scope: "row" }, row.name, row.about ? h("span", { class: "means small soft" }, row.about) : null), row.cells.map((cell, at) => h("td", { class: number(section, at + 1) }, cell)))))))) ),
    map ? [h("h2", {}, "Among the methods that were compared"), place] : null,
    h("div", { class: "foot" }, h("span", { class: "row" }, h("a", { class: "button", href: `#/protect/${table.id}` }, "Try something else"), h("a", { class: "button", href: `#/runs/${table.id}` }, "Compare with earlier runs")), h("button", { type: "button", class: "button primary", onclick: () => go("release", table.id, id) }, "Next: release it")),
  ].flat(Infinity).filter(Boolean);
}

const kinds = new Map(KINDS);

// Numbers stand to the right; the first column and those of texts to the left.
const number = (section, at) => at && !section.texts.includes(section.header[at]) ? "n" : "";
const charts = (columns) => h("div", { class: "figures" }, columns.map((one) => h("figure", { class: one.wide ? "whole" : "" }, h("figcaption", {}, h("b", {}, one.name), one.wide ? " along its taxonomy" : "", one.words ? h("span", { class: "means small soft" }, one.words) : null), figure(one.figure))));
