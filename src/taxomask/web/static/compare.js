// Compare: many methods on one table, on a map of risk against loss; points arrive as they are measured.
"use strict";
import { get } from "./api.js";
import { called, choice, figure, h, put, say, words } from "./dom.js";
import { changed, follow, go, latest, problem, startJob, state } from "./app.js";
import { described, fresh } from "./forms.js";
import { watch } from "./progress.js";

const PROMISED = [["", "nothing of its own"], ["k_anonymity", "that at least k records look alike"], ["permutation", "that values only change places"]];
const LIMIT = 0.1; // of the risk, before anybody has moved it

// What a draft of a plan compares for these roles is ticked; all others can be.
function proposed() {
  const has = (role) => state.draft.attributes.some((one) => one.role === role);
  const first = Object.entries(state.methods.compared).filter(([role]) => has(role)).flatMap(([, entries]) => entries);
  const alone = state.methods.methods.filter((one) => !one.parameters.some((parameter) => ["method", "methods"].includes(parameter.control)));
  return alone.flatMap((one) => {
    const entries = first.filter((entry) => entry.name === one.name);
    return entries.length ? entries.map((entry) => tried(one, entry)) : [tried(one, null)];
  });
}

// A row of the grid: a method, the parameter whose values are tried, and what else is set.
function tried(method, entry) {
  const start = fresh(method.name);
  const several = method.parameters.filter((one) => one.tries.length > 1);
  const parameter = several.find((one) => one.name in start) || several[0];
  const { name: _, vary, [parameter?.name]: __, ...more } = entry || {};
  const title = [words(method.name), ...Object.values(more).filter((value) => typeof value === "string")].join(", ");
  const values = vary?.[parameter?.name] || parameter?.tries || [];
  return { name: method.name, title, on: Boolean(entry), parameter: parameter?.name || "", values: values.join(", "), with: more };
}

const grid = (rows) => rows.filter((row) => row.on).map((row) => {
  const values = row.values.split(/[,;\s]+/).filter(Boolean).map(Number);
  const start = { ...fresh(row.name), ...row.with };
  const { [row.parameter]: _, ...rest } = start;
  return row.parameter && values.length ? { ...rest, vary: { [row.parameter]: values } } : start;
});

export async function compareStep(page, job) {
  const { table, draft } = state;
  draft.grid ||= proposed();
  const known = job || latest("compare")?.id;
  const messages = h("div", {});
  const result = h("div", {});
  const start = async () => {
    try {
      if (draft.grid.some((row) => row.on && row.values.split(/[,;\s]+/).filter(Boolean).some((value) => !Number.isFinite(Number(value))))) throw Object.assign(new Error("Values are numbers with commas between them."), { hint: "Write 3, 5, 10." });
      const search = draft.search ? { limit: draft.mapLimit ?? LIMIT, promise: draft.promise, analysis: draft.keep } : null;
      await follow(async () => ["compare", table.id, await startJob("compare", { compare: grid(draft.grid) }, { search })]);
    } catch (error) { messages.replaceChildren(problem(error)); }
  };
  const rows = draft.grid.map((row) => h("tr", {},
    h("td", {}, h("label", { class: "check" }, h("input", { type: "checkbox", checked: row.on, onchange: (event) => { row.on = event.target.checked; changed(); } }), h("b", {}, row.title || words(row.name)))),
    h("td", { class: "small soft about" }, row.about || described(row.name).about),
    h("td", {}, row.parameter ? h("label", { class: "vary" }, h("span", {}, `${row.parameter} =`), h("input", { type: "text", value: row.values, "aria-label": `Values of ${row.parameter} for ${row.title || row.name}`, oninput: (event) => { row.values = event.target.value; changed(); } })) : null)));
  page.append(
    h("h1", {}, "Which method keeps most at an acceptable risk?"),
    h("p", { class: "lead" }, "Each point of the map is a method with its parameters: the lower, the less an intruder learns; the farther left, the less is lost. Nothing is released."),
    choosing(draft), result,
    h("details", { class: "card-box grid-box", open: !known }, h("summary", {}, h("b", {}, "Methods to try")),
      h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Methods to try" }, h("table", { class: "grid-table" }, h("thead", {}, h("tr", {}, ["method", "what it does", "values to try"].map((one) => h("th", { scope: "col" }, one)))), h("tbody", {}, rows))),
      messages, h("p", {}, h("button", { type: "button", class: "button primary", onclick: start }, known ? "Compare anew" : "Compare"))),
    h("p", {}, h("a", { class: "button", href: `#/protect/${table.id}` }, "Back to the method")));
  if (known) showMap(result, known).catch((error) => result.replaceChildren(problem(error)));
}

// What a method must promise, what is to be kept, and whether k is searched, too.
let redraw = () => {}; // the map that is shown
function choosing(draft) {
  const names = (draft.analyses || []).map((one) => one.name);
  if (!names.includes(draft.keep)) delete draft.keep;
  const set = (key) => (value) => { if (value) draft[key] = value; else delete draft[key]; changed(); redraw(); };
  const search = h("input", { type: "checkbox", checked: Boolean(draft.search), onchange: () => set("search")(search.checked) });
  return h("section", { class: "card-box", "aria-label": "How to choose" },
    h("div", { class: "row" },
      h("label", { class: "row" }, h("b", {}, "Keep most of"), choice([["", "all columns: the least loss"], ...names.map((name) => [name, `the analysis “${name}”`])], draft.keep || "", set("keep"))),
      h("label", { class: "row" }, h("b", {}, "It must promise"), choice(PROMISED, draft.promise || "", set("promise")))),
    names.length ? null : h("p", { class: "help" }, "Analyses are named under “What users will compute”, where the method is set."),
    h("p", {}, h("label", { class: "check" }, search, "After comparing, search the smallest k that keeps to the acceptable risk, and weights that keep more of the analysis (a minute or more)")));
}

// The map of a comparison, live while it runs.
export async function showMap(place, job) {
  const progress = h("div", {});
  const map = h("div", { class: "map" });
  const best = h("div", { class: "best", "aria-live": "polite" });
  const chosen = h("div", { class: "chosen-point", "aria-live": "polite" });
  const failed = h("div", {});
  const searched = h("div", {});
  const list = h("details", {});
  const shown = h("output", {});
  let limit = state.draft.mapLimit ?? LIMIT;
  let number = null; // of the point that is shown
  let drawn = -1;
  let timer = null;
  const drawAgain = () => draw().catch((error) => put(failed, problem(error)));
  const slider = h("input", { type: "range", min: 0, max: 1, step: 0.005, id: "limit", oninput: () => { limit = Number(slider.value); tell(); clearTimeout(timer); timer = setTimeout(drawAgain, 80); } });
  slider.value = limit;
  const tell = () => { shown.textContent = `${(limit * 100).toFixed(1)} %`; };
  tell();
  const layout = h("section", { class: "card-box map-box", hidden: true },
    h("div", { class: "limit-row" }, h("label", { for: "limit" }, "Acceptable risk: at most"), slider, shown),
    best, h("div", { class: "map-and-point" }, map, chosen), list, searched);
  place.replaceChildren(progress, layout, failed);

  let asked = 0; // of several answers only the last one counts
  async function draw() {
    const mine = (asked += 1);
    const by = new URLSearchParams({ limit, promise: state.draft.promise || "", analysis: state.draft.keep || "" });
    const found = await get(`/api/jobs/${job}/map?${by}`);
    if (mine !== asked) return;
    drawn = found.points.length;
    layout.hidden = !found.points.length;
    state.draft.mapLimit = limit;
    put(failed, found.failed.length ? h("details", { class: found.points.length ? "" : "problem", open: !found.points.length }, h("summary", {}, `${found.failed.length} could not be shown`), h("ul", {}, found.failed.map(([label, reason]) => h("li", {}, h("b", {}, inWords(label, found.points)), `: ${reason}`)))) : null);
    if (!found.points.length) return;
    const focused = map.contains(document.activeElement) ? document.activeElement.dataset.point : null; // whoever walks the map by keys stays there
    if (found.figure) map.replaceChildren(figure(found.figure));
    map.querySelector(`[data-point="${focused}"]`)?.focus();
    if (found.best) {
      const { number, label, reason } = found.best;
      best.replaceChildren(h("b", {}, number === null ? label : called(found.points[number].method)), h("p", {}, inWords(reason, found.points)),
        number === null ? "" : h("button", { type: "button", class: "button small primary", onclick: () => take(found.points[number]) }, "Use this one"));
      best.classList.toggle("none", number === null);
    }
    put(searched, found.searched?.length ? h("details", {}, h("summary", {}, "The smallest k, searched"), h("ul", {}, found.searched.map((one) => h("li", {}, inWords(one, found.points))))) : null, weights(found.weights, found.points));
    for (const point of map.querySelectorAll("[data-point]")) {
      const at = Number(point.dataset.point);
      const choose = () => { number = at; mark(found); };
      point.addEventListener("click", choose);
      point.addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); choose(); } });
    }
    const rows = found.points.map((one, at) => h("tr", {}, h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => { number = at; mark(found); chosen.scrollIntoView({ block: "nearest" }); } }, called(one.method))),
      h("td", { class: "n" }, shortNumber(one.risk)), h("td", { class: "n" }, shortNumber(one.loss)), h("td", {}, one.numbers.worst_column === null ? "–" : `${one.numbers.worst_column} (${shortNumber(one.numbers.worst_loss)})`), h("td", {}, one.front ? "yes" : "")));
    list.replaceChildren(h("summary", {}, "All points as a table"), h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "All points" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "method"), h("th", { scope: "col", class: "n" }, "risk"), h("th", { scope: "col", class: "n" }, "loss"), h("th", { scope: "col" }, "worst column (its loss)"), h("th", { scope: "col" }, "on the front"))), h("tbody", {}, rows))),
      h("p", { class: "small soft" }, ["risk", "loss"].map((name) => `${words(name)}: ${found.meanings[name].about} `), `Every loss is over the columns that any of these methods protects: ${found.protected.join(", ")}.`));
    mark(found);
  }
  function mark(found) {
    for (const point of map.querySelectorAll("[data-point]")) point.classList.toggle("chosen", Number(point.dataset.point) === number);
    const one = found.points[number];
    if (!one) { chosen.replaceChildren(h("p", { class: "soft small" }, "Choose a point to see its numbers.")); return; }
    chosen.replaceChildren(h("h2", {}, called(one.method)), one.front ? h("span", { class: "badge good" }, "on the front") : "",
      h("dl", {}, Object.entries(one.numbers).map(([name, value]) => [h("dt", {}, found.meanings[name]?.title ?? words(name), h("span", { class: "means small soft" }, found.meanings[name]?.about ?? "")), h("dd", {}, name === "attacker" ? attacker(value) : shortNumber(value))])),
      h("button", { type: "button", class: "button small primary", onclick: () => take(one) }, "Use this one"));
  }
  function take(point) {
    state.draft.method = structuredClone(point.method);
    changed();
    say(`${called(point.method)} is chosen.`);
    go("protect", state.table.id);
  }
  // What larger weights keep, if they were searched.
  function weights(found, points) {
    const use = () => {
      for (const one of state.draft.attributes) if (Object.hasOwn(found.given, one.name)) one.weight = found.given[one.name];
      take(found);
    };
    return found ? h("p", {}, `${inWords(found.words, points)} `, Object.keys(found.given).length ? h("button", { type: "button", class: "button small", onclick: use }, "Use these weights") : null) : null;
  }
  redraw = () => { if (layout.isConnected) drawAgain(); };
  const last = await watch(job, progress, "Comparing", (now) => {
    const count = now.parts[0]?.points.length || 0;
    if (count !== drawn && count) drawAgain();
  });
  if (["done", "cancelled"].includes(last.state)) await draw();
}

// Methods that a sentence names, as people say them.
const inWords = (text, points) => points.reduce((said, one) => said.replaceAll(one.label, called(one.method)), text)
  .replace(/\b([a-z_]+)\(([^()]*)\)/g, (_, name, rest) => [words(name), ...rest.split(", ").filter(Boolean).map((one) => one.replace("=", " ").replaceAll("_", " "))].join(", "))
  .replace(/(promises?) '(\w+)'/, (_, promise, name) => `${promise} ${PROMISED.find(([one]) => one === name)?.[1] ?? words(name)}`);
const attacker = (name) => state.methods.attackers.find((one) => one.name === name)?.title ?? shortNumber(name);
const shortNumber = (value) => value === null ? "–" : typeof value === "string" ? value : Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 4 });
