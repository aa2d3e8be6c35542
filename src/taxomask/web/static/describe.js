// Describe: what each column is, many of them at once, how codes fit their taxonomy, and the first rows.
"use strict";
import { post, upload } from "./api.js";
import { choice, field, h, put, say, sparkline, thousands, unique } from "./dom.js";
import { changed, drafted, go, problem, state } from "./app.js";
import { numbers, weight } from "./numbers.js";
import { taxonomy } from "./taxonomy.js";

const ROLES = {
  undecided: ["Undecided", "not recognised, for you to decide; nothing is released while there is one"],
  identifier: ["Identifier", "names a person; never released"],
  quasi_identifier: ["Quasi-identifier", "others may know it, so it could lead to a person; most methods protect it"],
  confidential: ["Confidential", "to be learnt only about groups, such as a diagnosis"],
  other: ["Other", "released as it is, unprotected"],
};
export const KINDS = [["continuous", "numbers"], ["ordinal", "ordered categories"], ["nominal", "categories"], ["taxonomic", "taxonomy codes"]];

export async function describeStep(page, wanted) {
  const { table, draft } = state;
  const facts = new Map(table.attributes.map((one, at) => [one.name, table.columns[at]]));
  const undecided = draft.attributes.filter((one) => one.role === "undecided");
  const ordered = [...undecided, ...draft.attributes.filter((one) => one.role !== "undecided")]; // as they stand now; nothing moves while one works
  const count = h("div", { class: "tally", "aria-live": "polite" });
  const tally = () => {
    const found = Object.keys(ROLES).map((role) => [role, draft.attributes.filter((one) => one.role === role).length]);
    put(count, found.map(([role, number]) => h("span", { class: `tag ${role}` }, `${number} ${ROLES[role][0].toLowerCase()}${role.endsWith("identifier") && number !== 1 ? "s" : ""}`)));
  };
  const people = h("section", { class: "people", "aria-labelledby": "people" });
  const edited = () => { changed(); tally(); whose(people, draft, edited); drawRows(); };
  const rows = h("div", {});
  const places = new Map(); // the card of each column
  const chosen = new Set();
  const columns = h("div", { class: "columns" });
  const drawColumn = (attribute) => {
    const fresh = column(attribute, facts.get(attribute.name), edited, chosen, told);
    places.get(attribute.name)?.replaceWith(fresh);
    places.set(attribute.name, fresh);
    return fresh;
  };

  // ---- finding columns
  let text = "";
  let only = "";
  const fits = (one) => one.name.toLowerCase().includes(text) && (!only || one.role === only || one.kind === only);
  const found = h("span", { class: "small soft", role: "status" });
  const drawRows = () => put(rows, preview(table, ordered.filter((one) => !places.get(one.name)?.hidden)));
  const filter = () => {
    const visible = ordered.filter(fits);
    for (const one of ordered) places.get(one.name).hidden = !visible.includes(one);
    found.textContent = visible.length === ordered.length ? `${ordered.length} columns` : `${visible.length} of ${ordered.length} columns`;
    drawRows();
  };
  const search = h("input", { type: "search", placeholder: "Part of a name", "aria-label": "Find columns by their names", oninput: () => { text = search.value.trim().toLowerCase(); filter(); } });
  const which = choice([["", "all"], ...Object.entries(ROLES).map(([role, [label]]) => [role, label.toLowerCase()]), ...KINDS], "", (value) => { only = value; filter(); }, { "aria-label": "Show columns with this role or kind" });

  // ---- setting many at once
  const selected = h("span", { class: "small", role: "status" });
  const many = h("div", { class: "row many" });
  const told = () => { selected.textContent = chosen.size ? `${chosen.size} chosen` : "None chosen"; many.hidden = !chosen.size; };
  const set = (change, what) => {
    const some = ordered.filter((one) => chosen.has(one.name));
    for (const one of some) { change(one); drawColumn(one); }
    edited();
    filter();
    say(`${some.length} columns: ${what}`);
  };
  const pick = (label, values, apply) => h("label", { class: "row small" }, label, choice([["", "(as they are)"], ...values], "", (value) => value && apply(value), { "aria-label": `${label} of the chosen columns` }));
  const heavy = h("input", { type: "number", min: 0, step: "any", placeholder: "1", "aria-label": "Weight of the chosen columns", onchange: () => { const value = Number(heavy.value); if (value > 0) set((one) => { one.weight = value; }, `weight ${value}`); } });
  put(many, pick("Role", Object.entries(ROLES).map(([role, [label]]) => [role, label]), (role) => set((one) => { one.role = role; }, ROLES[role][0])),
    pick("Kind", KINDS, (kind) => set((one) => { one.kind = kind; prepare(one, facts.get(one.name)); }, kind)), h("label", { class: "row small" }, "Weight", heavy));
  const all = h("button", { type: "button", class: "button small", onclick: () => { for (const one of ordered.filter(fits)) { chosen.add(one.name); places.get(one.name).querySelector(".pick-one").checked = true; } told(); } }, "Choose all shown");
  const none = h("button", { type: "button", class: "button small", onclick: () => { chosen.clear(); for (const one of places.values()) one.querySelector(".pick-one").checked = false; told(); } }, "Choose none");

  put(columns, ordered.map(drawColumn));
  tally();
  told();
  whose(people, draft, edited);
  filter();
  page.append(
    h("h1", {}, "What are the columns?"),
    h("p", { class: "lead" }, h("b", {}, table.name), ` has ${thousands(table.rows)} rows and ${table.names.length} columns. The roles below were proposed from names and values; columns that were not recognised come first: `, h("b", {}, "decide those, and check every one of the others."),
      table.others?.length ? ` This is the sheet ${table.sheet}; not looked at, and not released: ${table.others.join(", ")}.` : null,
      table.above?.length ? ` Above the names of the columns stands, and is not looked at: ${shortened(table.above.join(", "), 200)}.` : null,
      table.below?.length ? ` Below the rows stands, and is no record: ${shortened(table.below.join(", "), 200)}.` : null),
    ...(table.told?.length ? [h("p", { class: "warns" }, table.told.join(" "))] : []),
    earlier(table, draft),
    h("details", { class: "roles-help" }, h("summary", {}, "What the roles mean"),
      h("dl", {}, Object.values(ROLES).map(([name, about]) => [h("dt", {}, name), h("dd", {}, about)]))),
    h("section", { class: "card-box tools", "aria-label": "Find columns, and set many at once" },
      h("div", { class: "row" }, h("label", { class: "row" }, h("b", {}, "Find"), search), h("label", { class: "row" }, "Show", which), found),
      h("div", { class: "row" }, h("b", {}, "Set many at once"), all, none, selected), many),
    columns, people,
    h("h2", { id: "preview" }, "The first rows"), rows,
    h("div", { class: "foot" }, count, h("button", { type: "button", class: "button primary", onclick: () => go("protect", table.id) }, "Next: protect it")));
  const place = wanted && places.get(wanted);
  if (place) setTimeout(() => { place.classList.add("wanted"); place.scrollIntoView({ block: "center" }); place.querySelector("input[type=radio]:checked")?.focus({ preventScroll: true }); }, 60);
}

// ---------------------------------------------------------------------------- a plan that was made before

function earlier(table, draft) {
  const messages = h("div", { "aria-live": "polite" });
  const taken = async (asking) => {
    try {
      const { notes, ...said } = await asking();
      for (const key of Object.keys(draft)) if (!["format", "mapLimit"].includes(key)) delete draft[key];
      Object.assign(draft, { limits: {}, accept: [], method: null, grid: null, format: "" }, said, { opened: notes });
      changed();
      dispatchEvent(new HashChangeEvent("hashchange"));
    } catch (error) { put(messages, problem(error)); }
  };
  const file = h("input", { type: "file", class: "unseen", id: "plan", accept: ".yaml,.yml,.json", onchange: (event) => event.target.files[0] && taken(() => upload(`/api/tables/${table.id}/plan`, event.target.files[0])) });
  const runs = table.jobs.filter((one) => one.task === "protect" && one.plan).length;
  return h("details", { class: "roles-help" }, h("summary", {}, "Open a plan that was made before"),
    h("p", { class: "soft small" }, "A plan, or the private audit of an earlier release: its columns, method and limits take the place of what is here. Columns that it does not name are undecided."),
    h("div", { class: "row" }, file, h("label", { for: "plan", class: "button small" }, "Choose a plan…"),
      table.plans.map((path) => h("button", { type: "button", class: "button small", onclick: () => taken(() => post(`/api/tables/${table.id}/plan`, { path })) }, `Open ${path}`)),
      runs ? h("a", { class: "button small", href: `#/runs/${table.id}` }, "Earlier runs") : null),
    messages, (draft.opened || []).map((note) => h("p", { class: "small" }, note)));
}

// Whose a row is: identifiers that name people or households, who are then counted instead of rows.
function whose(place, draft, edited) {
  const names = draft.attributes.filter((one) => one.role === "identifier").map((one) => one.name);
  const counts = draft.attributes.filter((one) => one.kind === "continuous").map((one) => one.name);
  for (const [key, possible] of [["person", names], ["household", names], ["sampling_weight", counts]]) if (!possible.includes(draft.people[key])) delete draft.people[key];
  const set = (key, value) => { if (value) draft.people[key] = value; else delete draft.people[key]; edited(); };
  const pick = (key, label, none, possible = names) => field(label, choice([["", none], ...possible.map((name) => [name, name])], draft.people[key] || "", (value) => set(key, value), { "aria-label": label }));
  const counted = draft.people.household ? "households" : draft.people.person ? "people" : "rows";
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
  put(place,
    h("h2", { id: "people" }, "Whose is a row?"),
    h("p", { class: "soft small" }, names.length ? `Where a person has several rows, name the identifier that tells them. Groups are made of k different ${counted}.` : "There is no identifier that could tell: every row counts as a person."),
    names.length ? h("div", { class: "row" }, pick("person", "The person of a row", "each row is a person"), pick("household", "The household of a row", "not counted"),
      counted === "rows" ? null : field("Rows that name nobody", choice([["together", "are one together"], ["each", "are one each"]], draft.people.missing_person || "together", (value) => set("missing_person", value === "each" ? value : null), { "aria-label": "Rows that name nobody" }))) : null,
    h("p", { class: "soft small" }, "Is the table a sample? Then the report tells how many of its people could be found in the population."),
    h("div", { class: "row" }, pick("sampling_weight", "For how many people a row stands", "not known", counts),
      field("How many people the population has", h("input", { type: "number", min: 1, step: 1, value: draft.people.population_size || "", "aria-label": "How many people the population has", onchange: (event) => set("population_size", Math.round(Number(event.target.value)) || null) }))));
  if (focused) [...place.querySelectorAll("select, input")].find((one) => one.getAttribute("aria-label") === focused)?.focus();
}

function column(attribute, facts, edited, chosen, told) {
  const more = h("div", { class: "more" });
  const redraw = () => {
    const bare = attribute.role === "identifier" || (attribute.role === "other" && attribute.follows); // what it is does not matter then
    if (!bare) { attribute.kind ||= facts.range ? "continuous" : "nominal"; kind.value = attribute.kind; }
    kind.hidden = Boolean(bare);
    put(more, details(attribute, facts, edited, redraw));
  };
  const name = unique("role");
  const roles = h("fieldset", { class: "roles" }, h("legend", { class: "unseen" }, `Role of ${attribute.name}`),
    Object.entries(ROLES).map(([role, [label]]) => h("label", { class: `chip ${role}` },
      h("input", { type: "radio", name, value: role, checked: attribute.role === role, onchange: () => { attribute.role = role; edited(); redraw(); } }), h("span", {}, label))));
  const kind = choice(KINDS, attribute.kind, (value) => { attribute.kind = value; prepare(attribute, facts); edited(); redraw(); }, { class: "kind", "aria-label": `Kind of ${attribute.name}` });
  const box = h("input", { type: "checkbox", class: "pick-one", checked: chosen.has(attribute.name), "aria-label": `Choose ${attribute.name}`, onchange: () => { if (box.checked) chosen.add(attribute.name); else chosen.delete(attribute.name); told(); } });
  redraw();
  const about = [facts.distinct === null ? null : `${thousands(facts.distinct)} different`, facts.range ? `${facts.range[0]} to ${facts.range[1]}` : null, facts.missing ? `${thousands(facts.missing)} empty` : null,
    !facts.range && facts.distinct > facts.bars.length ? `the ${facts.bars.length} commonest shown` : null];
  return h("section", { class: "column", "aria-label": attribute.name },
    h("div", { class: "what" }, box, h("div", {}, h("h2", {}, attribute.name), h("p", { class: "soft small" }, about.filter(Boolean).join(" · ")))),
    h("div", { class: "spark" }, sparkline(facts.bars, `Distribution of ${attribute.name}`)),
    h("div", { class: "set" }, roles, kind), more);
}

// What a kind needs; a taxonomy is never chosen by itself: many numbers are codes of one by chance.
function prepare(attribute, facts) {
  if (attribute.kind === "ordinal") attribute.order ||= facts.bars.map((one) => one.label).filter(Boolean).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
}

function details(attribute, facts, edited, redraw) {
  const parts = [];
  const evidence = h("p", { class: "evidence small soft" }, drafted(attribute.name));
  if (attribute.role === "identifier") return [evidence];
  parts.push(h("div", { class: "notes" }, evidence, missing(attribute, edited)));
  if (attribute.role === "other") parts.push(follows(attribute, edited, redraw));
  if (attribute.role === "other" && attribute.follows) return parts;
  if (attribute.role === "other") parts.push(reason(attribute, edited));
  if (attribute.kind === "continuous") parts.push(numbers(attribute, edited));
  if (attribute.kind === "taxonomic") parts.push(taxonomy(attribute, edited, redraw));
  if (attribute.kind === "ordinal") parts.push(h("details", {}, h("summary", {}, `Order: ${shortened((attribute.order || []).join(" < "), 60)}`),
    field("From the lowest to the highest, one in each line", h("textarea", { rows: 6, value: (attribute.order || []).join("\n"), onchange: (event) => { attribute.order = event.target.value.split("\n").map((one) => one.trim()).filter(Boolean); edited(); } }))));
  if (["quasi_identifier", "confidential"].includes(attribute.role)) parts.push(weight(attribute, edited));
  return parts;
}

// Why a column is released as it is: it stands on the first page of the report.
function reason(attribute, edited) {
  const input = h("input", { type: "text", class: "sentence", maxlength: 300, value: (attribute.note || "") === drafted(attribute.name) ? "" : attribute.note || "", placeholder: "the report repeats it", "aria-label": `Why ${attribute.name} is released as it is`, oninput: () => { attribute.note = input.value.trim() || drafted(attribute.name); edited(); } });
  return h("label", { class: "row small soft" }, "Why it may be released as it is", input);
}

function follows(attribute, edited, redraw) {
  const others = state.draft.attributes.map((one) => one.name).filter((one) => one !== attribute.name);
  return h("label", { class: "row small soft" }, "Released as it is, or as it belongs to the released value of",
    choice([["", "(as it is)"], ...others], attribute.follows || "", (value) => { if (value) attribute.follows = value; else delete attribute.follows; edited(); redraw(); }, { "aria-label": `What ${attribute.name} follows` }));
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
      put(place, h("span", { class: "small soft" }, `Missing: empty cells${listed}`), h("button", { type: "button", class: "link small", "aria-label": `Change what means missing in ${attribute.name}`, onclick: () => { open = true; draw(); place.querySelector("input").focus(); } }, "change"));
      return;
    }
    put(place, h("span", { class: "small soft" }, "Missing: empty cells"),
      values.map((value) => h("span", { class: "value" }, String(value), h("button", { type: "button", "aria-label": `${value} does not mean missing`, onclick: () => { attribute.missing = attribute.missing.filter((one) => one !== value); edited(); draw(); } }, "×"))),
      input, h("button", { type: "button", class: "link small", onclick: add }, "add"));
  };
  place.addEventListener("redraw", draw);
  draw();
  return place;
}

// The first rows of the columns that are shown; the number of the row stays in sight.
function preview(table, shown) {
  const roles = new Map(shown.map((one) => [one.name, one.role]));
  const kept = table.names.map((name, at) => [name, at]).filter(([name]) => roles.has(name));
  if (!kept.length) return h("p", { class: "soft" }, "No column is shown.");
  return h("div", { class: "wide preview", tabindex: "0", role: "region", "aria-labelledby": "preview" }, h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "first" }, "row"), kept.map(([name]) => h("th", { scope: "col" }, name, h("span", { class: `tag ${roles.get(name)}` }, ROLES[roles.get(name)][0]))))),
    h("tbody", {}, table.preview.map((row, number) => h("tr", {}, h("th", { scope: "row", class: "first" }, String(number + 1)), kept.map(([, at]) => h("td", row[at] ? { title: row[at].length > 30 ? row[at] : null } : { class: "empty" }, row[at] || "–")))))));
}

const shortened = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
