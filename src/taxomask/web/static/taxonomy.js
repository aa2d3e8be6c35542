// The taxonomy of a column: which one, how well it knows the values, and what to do about those that it does not know.
"use strict";
import { post, upload } from "./api.js";
import { choice, h, put, thousands, unique } from "./dom.js";
import { entry, problem, state } from "./app.js";
import { browse } from "./tree.js";

export function taxonomy(attribute, edited) {
  const result = h("div", { class: "coverage", "aria-live": "polite" });
  let asked = 0; // of several answers only the last one counts
  const cover = async () => {
    const mine = (asked += 1);
    if (!attribute.taxonomy) { put(result, h("p", { class: "small" }, "Choose the taxonomy that the codes come from.")); return; }
    put(result, h("p", { class: "small soft" }, "Looking up the values…"));
    try {
      const found = await post(`/api/tables/${state.table.id}/coverage`, entry(attribute));
      if (mine === asked) put(result, covered(attribute, found, () => { edited(); cover(); result.parentElement?.parentElement?.querySelector(".missing")?.dispatchEvent(new Event("redraw")); }));
    } catch (error) { if (mine === asked) put(result, problem(error), named(attribute, use)); }
  };
  const made = () => typeof attribute.taxonomy === "object";
  const draw = () => choice([...(attribute.taxonomy ? [] : [["", "(choose a taxonomy)"]]), ...(made() ? [["(made)", attribute.taxonomy.from ? `from ${attribute.taxonomy.from.join(", ")}` : attribute.taxonomy.file || "several taxonomies"]] : []), ...state.methods.taxonomies, ...state.table.files], made() ? "(made)" : attribute.taxonomy || "", (value) => { if (value !== "(made)") use(value); }, { "aria-label": `Taxonomy of ${attribute.name}` });
  const use = (source) => { attribute.taxonomy = source; const fresh = draw(); select.replaceWith(fresh); select = fresh; edited(); cover(); };
  const saved = ({ name, text, files }) => {
    state.table.files = files;
    if (files.includes(name)) { use(name); return; }
    const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
    link.click();
    put(result, h("p", { class: "small" }, `${name} was downloaded. Put it into the opened folder and open the table again; then choose it here.`));
  };
  let select = draw();
  const file = h("input", { type: "file", class: "unseen", id: unique("taxonomy"), onchange: async (event) => {
    const chosen = event.target.files[0];
    if (!chosen) return;
    try {
      state.table.files = (await upload(`/api/tables/${state.table.id}/taxonomy`, chosen)).files;
      attribute.taxonomy = state.table.files.includes(chosen.name) ? chosen.name : state.table.files.at(-1);
      use(attribute.taxonomy);
    } catch (error) { put(result, problem(error)); }
  } });
  cover();
  return h("div", { class: "taxonomy" },
    h("div", { class: "row" }, select,
      h("button", { type: "button", class: "button small", onclick: () => attribute.taxonomy && browse(attribute.taxonomy, saved) }, "Browse the tree"),
      file, h("label", { for: file.id, class: "button small" }, "Use a file…"),
      fromColumns(attribute, use),
      h("span", { class: "small soft" }, "values are its"),
      choice([["id", "codes"], ["label", "labels"], ["code", "other codes"]], attribute.match || "id", (value) => { attribute.match = value; edited(); cover(); }, { "aria-label": `How ${attribute.name} is spelled` }),
      h("span", { class: "small soft" }, "apart by"),
      choice(state.methods.distances.map((name) => [name, name.replaceAll("_", " ")]), attribute.distance || "ancestors", (value) => { attribute.distance = value; edited(); }, { "aria-label": `Distance of ${attribute.name}` })),
    result);
}

// The columns of a file that is a table of concepts and their parents, where they have names of their own.
function named(attribute, use) {
  const file = attribute.taxonomy?.file || attribute.taxonomy;
  if (typeof file !== "string" || !state.table.files.includes(file)) return null;
  const boxes = [["concept", "Codes"], ["parent", "Their groups"], ["label", "Their labels"]].map(([key, label]) => [key, h("input", { type: "text", size: 12, value: attribute.taxonomy[key] || "", placeholder: key === "label" ? "none" : "", "aria-label": `${label}: the column of ${file}` }), label]);
  const read = () => { const said = boxes.map(([key, box]) => [key, box.value.trim()]).filter(([, value]) => value); if (said.length) use({ file, ...Object.fromEntries(said) }); };
  return h("div", { class: "row small" }, h("span", {}, `If ${file} is a table with a row for each code, name its columns:`), boxes.map(([, box, label]) => h("label", { class: "row" }, label, box)), h("button", { type: "button", class: "button small", onclick: read }, "Read it"));
}

// A taxonomy from columns of the table: this one, the column of its groups, and so on.
function fromColumns(attribute, use) {
  const names = state.draft.attributes.map((one) => one.name).filter((name) => name !== attribute.name);
  const dialog = () => {
    const chosen = attribute.taxonomy?.from ? attribute.taxonomy.from.slice(1) : [];
    let text = attribute.taxonomy?.labels?.[attribute.name] || "";
    const listed = h("p", {});
    const told = () => put(listed, "From the finest to the coarsest: ", h("b", {}, [attribute.name, ...chosen].join(" › ")));
    const make = () => {
      box.close();
      if (!chosen.length) return;
      for (const one of state.draft.attributes) if ([...chosen, text].includes(one.name) && one.role !== "identifier") Object.assign(one, { role: "other", follows: attribute.name });
      use({ from: [attribute.name, ...chosen], ...(text ? { labels: { [attribute.name]: text } } : {}) });
      dispatchEvent(new HashChangeEvent("hashchange")); // other columns have changed as well
    };
    const box = h("dialog", { class: "browser", "aria-label": `Taxonomy from columns for ${attribute.name}`, onclose: () => box.remove() },
      h("div", { class: "row" }, h("h2", {}, "Taxonomy from columns"), h("button", { type: "button", class: "button small", onclick: () => box.close() }, "Close")),
      h("p", { class: "soft small" }, `Name the column of the groups that ${attribute.name} belongs to, then that of their groups, and so on. These columns follow the code: what is released of them belongs to the released code.`), listed,
      h("p", {}, h("label", { class: "row" }, "Next", choice([["", "(a coarser column)"], ...names.map((name) => [name, name])], "", (name) => { if (name && !chosen.includes(name)) chosen.push(name); told(); }, { "aria-label": "Add a coarser column" })), h("button", { type: "button", class: "link small", onclick: () => { chosen.pop(); told(); } }, "Leave out the last")),
      h("p", {}, h("label", { class: "row" }, "Its codes are described by", choice([["", "(no column)"], ...names.map((name) => [name, name])], text, (name) => { text = name; }, { "aria-label": "The column that describes the codes" }))),
      h("button", { type: "button", class: "button primary", onclick: make }, "Make it"));
    told();
    document.body.append(box);
    box.showModal();
  };
  return h("button", { type: "button", class: "button small", onclick: dialog }, "From columns…");
}

function covered(attribute, found, edited) {
  const present = found.cells - found.missing_cells;
  const share = present ? found.mapped_cells / present : 1;
  const parts = [h("div", { class: "row" },
    h("meter", { min: 0, max: 1, value: share, low: 0.9, high: 0.999, optimum: 1, "aria-label": "Share of cells that the taxonomy knows" }),
    h("span", { class: found.complete ? "holds" : "broken" }, `${(Math.floor(share * 1000) / 10).toFixed(1)} %`),
    h("span", { class: "small" }, `of the cells are in ${found.taxonomy}; ${thousands(found.mapped_values)} of ${thousands(found.values)} different values`))];
  if (found.doubtful) parts.push(h("p", { class: "small warns" }, `This may be chance: of random values of the same shape it knows ${(found.look_alikes * 100).toFixed(0)} %. Take it only if you know that these are its codes.`));
  if (found.slips?.length) parts.push(h("details", {}, h("summary", { class: "small warns" }, `${found.slips.length} may be slips in the table`), h("ul", { class: "small" }, found.slips.map((one) => h("li", {}, one)))));
  if (found.several) parts.push(h("p", { class: "small soft" }, `${thousands(found.several)} concepts have several groups.`));
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
