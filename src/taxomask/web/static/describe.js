// Describe: what each column is, how codes fit their taxonomy, and the first rows.
"use strict";
import { post, upload } from "./api.js";
import { choice, field, h, problem, sparkline, thousands, unique } from "./dom.js";
import { changed, entry, go, state } from "./app.js";
import { browse } from "./tree.js";

const ROLES = {
  undecided: ["Undecided", "not recognised, for you to decide; nothing is released while there is one"],
  identifier: ["Identifier", "names a person; never released"],
  quasi_identifier: ["Quasi-identifier", "others may know it, so it could lead to a person; protected"],
  confidential: ["Confidential", "to be learnt only about groups, such as a diagnosis"],
  other: ["Other", "released as it is, unprotected"],
};
const KINDS = [["continuous", "numbers"], ["ordinal", "ordered categories"], ["nominal", "categories"], ["taxonomic", "taxonomy codes"]];

export async function describeStep(page) {
  const { table, draft } = state;
  const count = h("div", { class: "tally", "aria-live": "polite" });
  const tally = () => {
    const found = Object.keys(ROLES).map((role) => [role, draft.attributes.filter((one) => one.role === role).length]);
    count.replaceChildren(...found.map(([role, number]) => h("span", { class: `tag ${role}` }, `${number} ${ROLES[role][0].toLowerCase()}${role.endsWith("identifier") && number !== 1 ? "s" : ""}`)));
  };
  const people = h("section", { class: "people", "aria-labelledby": "people" });
  const edited = () => { changed(); tally(); whose(people, draft, edited); };
  tally();
  whose(people, draft, edited);
  page.append(
    h("h1", {}, "What are the columns?"),
    h("p", { class: "lead" }, h("b", {}, table.name), ` has ${thousands(table.rows)} rows and ${table.names.length} columns. The roles below were proposed from names and values; columns that were not recognised come first: `, h("b", {}, "decide those, and check every one of the others.")),
    h("details", { class: "roles-help" }, h("summary", {}, "What the roles mean"),
      h("dl", {}, Object.values(ROLES).map(([name, about]) => [h("dt", {}, name), h("dd", {}, about)]))),
    h("div", { class: "columns" }, draft.attributes.map((attribute, number) => column(attribute, table.columns[number], edited))),
    people,
    h("h2", { id: "preview" }, "The first rows"), preview(table),
    h("div", { class: "foot" }, count, h("button", { type: "button", class: "button primary", onclick: () => go("protect", table.id) }, "Next: protect it")));
}

// Whose a row is: identifiers that name people or households, who are then counted instead of rows.
function whose(place, draft, edited) {
  const names = draft.attributes.filter((one) => one.role === "identifier").map((one) => one.name);
  const numbers = draft.attributes.filter((one) => one.kind === "continuous").map((one) => one.name);
  for (const [key, possible] of [["person", names], ["household", names], ["sampling_weight", numbers]]) if (!possible.includes(draft.people[key])) delete draft.people[key];
  const set = (key, value) => { if (value) draft.people[key] = value; else delete draft.people[key]; edited(); };
  const pick = (key, label, none, possible = names) => field(label, choice([["", none], ...possible.map((name) => [name, name])], draft.people[key] || "", (value) => set(key, value), { "aria-label": label }));
  const counted = draft.people.household ? "households" : draft.people.person ? "people" : "rows";
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  place.replaceChildren(
    h("h2", { id: "people" }, "Whose is a row?"),
    h("p", { class: "soft small" }, names.length ? `Where a person has several rows, name the identifier that tells them. Groups are made of k different ${counted}.` : "There is no identifier that could tell: every row counts as a person."),
    ...(names.length ? [h("div", { class: "row" }, pick("person", "The person of a row", "each row is a person"), pick("household", "The household of a row", "not counted"),
      ...(counted === "rows" ? [] : [field("Rows that name nobody", choice([["together", "are one together"], ["each", "are one each"]], draft.people.missing_person || "together", (value) => set("missing_person", value === "each" ? value : null), { "aria-label": "Rows that name nobody" }))]))] : []),
    h("p", { class: "soft small" }, "Is the table a sample? Then the report tells how many of its people could be found in the population."),
    h("div", { class: "row" }, pick("sampling_weight", "For how many people a row stands", "not known", numbers),
      field("How many people the population has", h("input", { type: "number", min: 1, step: 1, value: draft.people.population_size || "", "aria-label": "How many people the population has", onchange: (event) => set("population_size", Math.round(Number(event.target.value)) || null) }))));
  if (focused) [...place.querySelectorAll("select, input")].find((one) => one.getAttribute("aria-label") === focused)?.focus();
}

function column(attribute, facts, edited) {
  const more = h("div", { class: "more" });
  const redraw = () => more.replaceChildren(...details(attribute, facts, edited, redraw));
  const name = unique("role");
  const roles = h("fieldset", { class: "roles" }, h("legend", { class: "unseen" }, `Role of ${attribute.name}`),
    Object.entries(ROLES).map(([role, [label]]) => h("label", { class: `chip ${role}` },
      h("input", { type: "radio", name, value: role, checked: attribute.role === role, onchange: () => { attribute.role = role; edited(); redraw(); } }), h("span", {}, label))));
  const kind = choice(KINDS, attribute.kind, (value) => { attribute.kind = value; prepare(attribute, facts); edited(); redraw(); }, { class: "kind", "aria-label": `Kind of ${attribute.name}` });
  redraw();
  const about = [facts.distinct === null ? null : `${thousands(facts.distinct)} different`, facts.range ? `${facts.range[0]} to ${facts.range[1]}` : null, facts.missing ? `${thousands(facts.missing)} empty` : null,
    !facts.range && facts.distinct > facts.bars.length ? `the ${facts.bars.length} commonest shown` : null];
  return h("section", { class: "column", "aria-label": attribute.name },
    h("div", { class: "what" }, h("h2", {}, attribute.name), h("p", { class: "soft small" }, about.filter(Boolean).join(" · "))),
    h("div", { class: "spark" }, sparkline(facts.bars, `Distribution of ${attribute.name}`)),
    h("div", { class: "set" }, roles, kind), more);
}

function prepare(attribute, facts) {
  if (attribute.kind === "ordinal") attribute.order ||= facts.bars.map((one) => one.label).filter(Boolean).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (attribute.kind === "taxonomic") attribute.taxonomy ||= state.methods.taxonomies[0];
}

function details(attribute, facts, edited, redraw) {
  const parts = [];
  const evidence = h("p", { class: "evidence small soft" }, attribute.note || "");
  if (attribute.role === "identifier") return [evidence];
  parts.push(h("div", { class: "notes" }, evidence, missing(attribute, edited)));
  if (attribute.role === "other") parts.push(follows(attribute, edited, redraw));
  if (attribute.role === "other" && attribute.follows) return parts;
  if (attribute.kind === "continuous") parts.push(decimals(attribute, edited));
  if (attribute.kind === "taxonomic") parts.push(taxonomy(attribute, edited));
  if (attribute.kind === "ordinal") parts.push(h("details", {}, h("summary", {}, `Order: ${shortened((attribute.order || []).join(" < "), 60)}`),
    field("From the lowest to the highest, one in each line", h("textarea", { rows: 6, value: (attribute.order || []).join("\n"), onchange: (event) => { attribute.order = event.target.value.split("\n").map((one) => one.trim()).filter(Boolean); edited(); } }))));
  return parts;
}

function follows(attribute, edited, redraw) {
  const others = state.draft.attributes.map((one) => one.name).filter((one) => one !== attribute.name);
  return h("label", { class: "row small soft" }, "Released as it is, or as it belongs to the released value of",
    choice([["", "(as it is)"], ...others], attribute.follows || "", (value) => { if (value) attribute.follows = value; else delete attribute.follows; edited(); redraw(); }, { "aria-label": `What ${attribute.name} follows` }));
}

function decimals(attribute, edited) {
  const input = h("input", { type: "number", min: 0, max: 20, step: 1, value: attribute.decimals ?? "", placeholder: "original + 2", "aria-label": `Decimals of ${attribute.name}`,
    onchange: () => { attribute.decimals = input.value === "" || !input.validity.valid ? null : Number(input.value); edited(); } });
  return h("label", { class: "row small soft" }, "Decimals of new values: at most", input);
}

function missing(attribute, edited) {
  const place = h("div", { class: "missing" });
  let open = false;
  const draw = () => {
    const values = (attribute.missing || [""]).filter((one) => one !== "");
    const input = h("input", { type: "text", size: 10, "aria-label": `Another value of ${attribute.name} that means missing` });
    const add = () => { if (input.value) { attribute.missing = [...new Set([...(attribute.missing || [""]), input.value])]; edited(); draw(); } };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") add(); });
    if (!open) {
      const listed = values.map((value) => `, ${value}`).join("");
      place.replaceChildren(h("span", { class: "small soft" }, `Missing: empty cells${listed}`), h("button", { type: "button", class: "link small", "aria-label": `Change what means missing in ${attribute.name}`, onclick: () => { open = true; draw(); place.querySelector("input").focus(); } }, "change"));
      return;
    }
    place.replaceChildren(h("span", { class: "small soft" }, "Missing: empty cells"),
      ...values.map((value) => h("span", { class: "value" }, String(value), h("button", { type: "button", "aria-label": `${value} does not mean missing`, onclick: () => { attribute.missing = attribute.missing.filter((one) => one !== value); edited(); draw(); } }, "×"))),
      input, h("button", { type: "button", class: "link small", onclick: add }, "add"));
  };
  place.addEventListener("redraw", draw);
  draw();
  return place;
}

function taxonomy(attribute, edited) {
  const result = h("div", { class: "coverage", "aria-live": "polite" });
  let asked = 0; // of several answers only the last one counts
  const cover = async () => {
    const mine = (asked += 1);
    result.replaceChildren(h("p", { class: "small soft" }, "Looking up the values…"));
    try {
      const found = await post(`/api/tables/${state.table.id}/coverage`, entry(attribute));
      if (mine === asked) result.replaceChildren(...covered(attribute, found, () => { edited(); cover(); result.parentElement?.parentElement?.querySelector(".missing")?.dispatchEvent(new Event("redraw")); }));
    } catch (error) { if (mine === asked) result.replaceChildren(problem(error)); }
  };
  const draw = () => choice([...state.methods.taxonomies, ...state.table.files], attribute.taxonomy, (value) => { attribute.taxonomy = value; edited(); cover(); }, { "aria-label": `Taxonomy of ${attribute.name}` });
  let select = draw();
  const file = h("input", { type: "file", class: "unseen", id: unique("taxonomy"), onchange: async (event) => {
    const chosen = event.target.files[0];
    if (!chosen) return;
    try {
      state.table.files = (await upload(`/api/tables/${state.table.id}/taxonomy`, chosen)).files;
      attribute.taxonomy = state.table.files.includes(chosen.name) ? chosen.name : state.table.files.at(-1);
      const fresh = draw();
      select.replaceWith(fresh);
      select = fresh;
      edited();
      cover();
    } catch (error) { result.replaceChildren(problem(error)); }
  } });
  cover();
  return h("div", { class: "taxonomy" },
    h("div", { class: "row" }, select,
      h("button", { type: "button", class: "button small", onclick: () => browse(attribute.taxonomy) }, "Browse the tree"),
      file, h("label", { for: file.id, class: "button small" }, "Use a file…"),
      h("span", { class: "small soft" }, "values are its"),
      choice([["id", "codes"], ["label", "labels"], ["code", "other codes"]], attribute.match || "id", (value) => { attribute.match = value; edited(); cover(); }, { "aria-label": `How ${attribute.name} is spelled` }),
      h("span", { class: "small soft" }, "apart by"),
      choice(state.methods.distances.map((name) => [name, name.replaceAll("_", " ")]), attribute.distance || "ancestors", (value) => { attribute.distance = value; edited(); }, { "aria-label": `Distance of ${attribute.name}` })),
    result);
}

function covered(attribute, found, edited) {
  const present = found.cells - found.missing_cells;
  const share = present ? found.mapped_cells / present : 1;
  const parts = [h("div", { class: "row" },
    h("meter", { min: 0, max: 1, value: share, low: 0.9, high: 0.999, optimum: 1, "aria-label": "Share of cells that the taxonomy knows" }),
    h("span", { class: found.complete ? "holds" : "broken" }, `${(Math.floor(share * 1000) / 10).toFixed(1)} %`),
    h("span", { class: "small" }, `of the cells are in ${found.taxonomy}; ${thousands(found.mapped_values)} of ${thousands(found.values)} different values`))];
  if (found.complete) return parts;
  const spelled = attribute.normalize || [];
  const fix = (step) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: spelled.includes(step), onchange: (event) => { attribute.normalize = event.target.checked ? [...spelled, step] : spelled.filter((one) => one !== step); edited(); } }), { spaces: "ignore spaces", case: "ignore case", dots: "ignore dots" }[step]);
  parts.push(
    h("div", { class: "row fixes" }, h("b", { class: "small" }, "Spelling:"), ["spaces", "case", "dots"].map(fix),
      h("b", { class: "small" }, "What is not in it:"),
      choice([["error", "stops the work"], ["as_missing", "counts as missing"], ["root", "goes to the top of the taxonomy"], ["drop", "the record is left out"]], attribute.unmapped || "error", (value) => { attribute.unmapped = value; edited(); }, { "aria-label": `Values of ${attribute.name} that are not in the taxonomy` })),
    h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Values that are not in the taxonomy" }, h("table", { class: "unmapped" },
      h("thead", {}, h("tr", {}, ["value", "cells", "first row", "nearest", "fix"].map((one, at) => h("th", { scope: "col", class: at === 1 || at === 2 ? "n" : "" }, one)))),
      h("tbody", {}, found.unmapped.map((one) => h("tr", {}, h("td", {}, h("code", {}, one.value)), h("td", { class: "n" }, thousands(one.cells)), h("td", { class: "n" }, thousands(one.first_row)), h("td", {}, one.nearest.join(", ")),
        h("td", {}, h("button", { type: "button", class: "link small", "aria-label": `${one.value} means missing`, onclick: () => { attribute.missing = [...(attribute.missing || [""]), one.value]; edited(); } }, "means missing"))))))));
  return parts;
}

function preview(table) {
  return h("div", { class: "wide preview", tabindex: "0", role: "region", "aria-labelledby": "preview" }, h("table", {},
    h("thead", {}, h("tr", {}, table.names.map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, table.preview.map((row) => h("tr", {}, row.map((cell) => h("td", cell ? {} : { class: "empty" }, cell || "–")))))));
}

const shortened = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
