// Runs: what was tried on this table, and two of them side by side.
"use strict";
import { get } from "./api.js";
import { called, h, put, words } from "./dom.js";
import { changed, go, problem, state } from "./app.js";

const NUMBERS = [["risk", "risk"], ["disclosure", "disclosure"], ["loss", "loss"], ["worst_loss", "loss of the worst column"], ["worst_column", "worst column"], ["k", "smallest class"], ["uniques", "uniques"]];
const number = (value) => value === null || value === undefined ? "–" : typeof value === "string" ? value : Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 4 });
const clock = (seconds) => seconds ? new Date(1000 * seconds).toLocaleTimeString("en-GB") : "–";

export async function runsStep(page, first, second) {
  const { table } = state;
  const runs = (await get(`/api/tables/${table.id}`)).jobs.filter((one) => one.task === "protect");
  const done = runs.filter((one) => one.state === "done");
  const place = h("div", {});
  let pair = [first, second].filter((id) => done.some((one) => one.id === id));
  if (pair.length < 2) pair = done.slice(0, 2).map((one) => one.id).reverse();
  const draw = async () => {
    if (pair.length < 2 || pair[0] === pair[1]) { put(place, h("p", { class: "soft" }, done.length < 2 ? "Two finished runs can be compared." : "Choose two different runs.")); return; }
    try { put(place, sideBySide(...await Promise.all(pair.map((id) => get(`/api/jobs/${id}`))), pair.map((id) => name(runs, id)))); } catch (error) { put(place, problem(error)); }
  };
  const again = (run) => { Object.assign(state.draft, { method: structuredClone(run.plan.method), limits: run.plan.limits || {} }); changed(); go("protect", table.id); };
  const pick = (run, at) => h("input", { type: "radio", name: `run-${at}`, "aria-label": `${name(runs, run.id)} as the ${at ? "second" : "first"} to compare`, disabled: run.state !== "done", checked: pair[at] === run.id, onchange: () => { pair[at] = run.id; draw(); } });
  const rows = runs.map((run) => h("tr", {}, h("td", {}, pick(run, 0)), h("td", {}, pick(run, 1)), h("th", { scope: "row" }, h("a", { href: `#/look/${table.id}/${run.id}` }, name(runs, run.id)), h("span", { class: "means small soft" }, run.plan ? called(run.plan.method) : run.state)),
    h("td", { class: "n" }, clock(run.ended)), ["risk", "loss"].map((key) => h("td", { class: "n" }, number(run.headline?.[key]))), h("td", { class: run.error ? "said" : "" }, run.state === "done" ? "done" : run.error ? run.error.message : run.state),
    h("td", {}, run.plan ? h("button", { type: "button", class: "link small", "aria-label": `Begin again from ${name(runs, run.id)}`, onclick: () => again(run) }, "Begin again") : "")));
  page.append(
    h("h1", {}, "What was tried"),
    h("p", { class: "lead" }, `Every run on ${table.name} since it was opened. Choose two to see what differs.`),
    runs.length ? h("div", { class: "card-box wide", tabindex: "0", role: "region", "aria-label": "Runs" }, h("table", { class: "runs" },
      h("thead", {}, h("tr", {}, ["1st", "2nd", "run", "ended", "risk", "loss", "state", ""].map((one, at) => one ? h("th", { scope: "col", class: at > 2 && at < 6 ? "n" : "" }, one) : h("td", {})))), h("tbody", {}, rows))) : h("p", {}, "Nothing was protected yet."),
    place, h("p", {}, h("a", { class: "button", href: `#/protect/${table.id}` }, "Try something else")));
  await draw();
}

const name = (runs, id) => `Run ${runs.length - runs.findIndex((one) => one.id === id)}`;

function sideBySide(one, two, names) {
  const table = (label, header, rows) => h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, header.map((text, at) => text ? h("th", { scope: "col", class: at ? "n" : "" }, text) : h("td", {})))),
    h("tbody", {}, rows.map(([title, a, b]) => h("tr", { class: a === b ? "" : "differs" }, h("th", { scope: "row" }, title), h("td", { class: "n" }, a), h("td", { class: "n" }, b))))));
  const [a, b] = [one.result, two.result];
  const losses = (result) => new Map(result.columns.map((column) => [column.name, column.loss]));
  const [left, right] = [losses(a), losses(b)];
  const settings = plans(a.plan, b.plan);
  return h("section", { class: "card-box", "aria-label": "Two runs compared" }, h("h2", {}, `${names[0]} and ${names[1]}`),
    table("Numbers of two runs", ["", ...names], [["Method", called(a.plan.method), called(b.plan.method)], ...NUMBERS.map(([key, title]) => [words(title), number(a.headline[key]), number(b.headline[key])])]),
    h("h3", {}, "What was set differently"), settings.length ? table("Settings that differ", ["", ...names], settings) : h("p", { class: "soft" }, "Nothing but chance: the same plan, another seed."),
    h("h3", {}, "Loss of each column"), table("Loss of each column in two runs", ["column", ...names], [...new Set([...left.keys(), ...right.keys()])].map((column) => [column, left.get(column) ?? "–", right.get(column) ?? "–"])));
}

// Where two plans differ: what is said about each column, and everything else.
function plans(one, two) {
  const text = (value) => value === undefined ? "–" : typeof value === "string" || typeof value === "number" ? String(value) : JSON.stringify(value).replaceAll('"', "").replace(/^[{[]|[}\]]$/g, "").replaceAll(",", ", ").replaceAll(":", ": ");
  const found = text(one.method) === text(two.method) ? [] : [["Method", called(one.method), called(two.method)]];
  for (const key of new Set([...Object.keys(one), ...Object.keys(two)])) if (!["attributes", "method"].includes(key) && text(one[key]) !== text(two[key])) found.push([words(key), text(one[key]), text(two[key])]);
  const entries = (plan) => new Map(plan.attributes.map(({ name, note, ...rest }) => [name, rest]));
  const [left, right] = [entries(one), entries(two)];
  for (const column of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(column) || {}, right.get(column) || {}];
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) if (text(a[key]) !== text(b[key])) found.push([`${column}: ${words(key)}`, text(a[key]), text(b[key])]);
  }
  return found;
}
