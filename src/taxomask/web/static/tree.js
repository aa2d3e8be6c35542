// A taxonomy to look through: branches open on demand, and a search.
"use strict";
import { get } from "./api.js";
import { h, problem, thousands } from "./dom.js";
import { state } from "./app.js";

export function browse(source) {
  const list = h("div", { class: "tree" });
  const note = h("p", { class: "small soft", "aria-live": "polite" });
  const ask = (more) => get(`/api/tables/${state.table.id}/concepts?${new URLSearchParams({ source, ...more })}`);
  let timer = null;
  const search = h("input", { type: "search", placeholder: "Search codes and labels", "aria-label": "Search codes and labels", oninput: () => { clearTimeout(timer); timer = setTimeout(fill, 200); } });
  const dialog = h("dialog", { class: "browser", "aria-label": `Taxonomy ${source}`, onclose: () => dialog.remove() },
    h("div", { class: "row" }, h("h2", {}, source), h("button", { type: "button", class: "button small", onclick: () => dialog.close() }, "Close")), search, note, list);

  async function fill() {
    try {
      const found = await ask(search.value ? { search: search.value } : {});
      note.textContent = search.value ? `${thousands(found.found)} found${found.found > found.concepts.length ? `, the first ${found.concepts.length} shown` : ""}` : `${thousands(found.size)} concepts`;
      list.replaceChildren(branches(found.concepts, !search.value));
    } catch (error) { list.replaceChildren(problem(error)); }
  }
  const branches = (concepts, open) => h("ul", {}, concepts.map((one) => branch(one, open && concepts.length === 1)));
  function branch(one, open) {
    const name = [h("code", {}, one.id), " ", h("span", {}, one.label), one.children ? h("span", { class: "badge" }, thousands(one.children)) : null,
      one.path.length ? h("small", { class: "soft" }, one.path.join(" › ")) : null];
    if (!one.children) return h("li", { class: "leaf" }, name);
    const below = h("div", {});
    const details = h("details", { ontoggle: async () => {
      if (!details.open || below.childElementCount) return;
      try { below.replaceChildren(branches((await ask({ under: one.id })).concepts, false)); } catch (error) { below.replaceChildren(problem(error)); }
    } }, h("summary", {}, name), below);
    details.open = open;
    return h("li", {}, details);
  }
  document.body.append(dialog);
  dialog.showModal();
  fill();
}
