// A taxonomy to look through: branches open on demand, and a search.
"use strict";
import { get, post } from "./api.js";
import { h, put, thousands } from "./dom.js";
import { problem, state } from "./app.js";

export function browse(source, saved = null) {
  const called = typeof source === "string" ? source : source.from ? `from ${source.from.join(", ")}` : source.file || "several taxonomies";
  const steps = []; // of the editor, in order
  const list = h("div", { class: "tree" });
  const note = h("p", { class: "small soft", "aria-live": "polite" });
  const ask = (more) => get(`/api/tables/${state.table.id}/concepts?${new URLSearchParams({ source: typeof source === "string" ? source : JSON.stringify(source), ...more })}`);
  let timer = null;
  const search = h("input", { type: "search", placeholder: "Search codes and labels", "aria-label": "Search codes and labels", oninput: () => { clearTimeout(timer); timer = setTimeout(fill, 200); } });
  const dialog = h("dialog", { class: "browser", "aria-label": `Taxonomy ${called}`, onclose: () => dialog.remove() },
    h("div", { class: "row" }, h("h2", {}, called), h("button", { type: "button", class: "button small", onclick: () => dialog.close() }, "Close")), search, note, list, saved ? editor() : null);

  // A concept moved, a group added; what was done is listed, and saved as a new file.
  function editor() {
    const text = (label) => h("input", { type: "text", size: 14, "aria-label": label, placeholder: label });
    const [moved, to, added, words, above, name] = ["Concept to move", "Its new group", "New group", "Its text", "Below", "Name of the file"].map(text);
    const done = h("ol", { class: "small" });
    const messages = h("div", {});
    const step = (one, said, ...inputs) => { steps.push(one); done.append(h("li", {}, said)); for (const input of inputs) input.value = ""; };
    const given = (...inputs) => inputs.every((input) => input.value.trim()) || (put(messages, problem({ message: "Fill in both fields.", hint: "Codes, as they stand in the tree." })), false);
    const save = async () => {
      if (!given(name)) return;
      try {
        const found = await post(`/api/tables/${state.table.id}/edit`, { source, steps, name: name.value.trim() });
        dialog.close();
        saved(found);
      } catch (error) { put(messages, problem(error)); }
    };
    return h("details", { class: "editor" }, h("summary", {}, "Change it"), h("p", { class: "small soft" }, "The steps make a new taxonomy, which is saved as a file; this one stays as it is."),
      h("div", { class: "row" }, moved, to, h("button", { type: "button", class: "button small", onclick: () => given(moved, to) && step({ move: moved.value.trim(), to: to.value.trim() }, `${moved.value} goes below ${to.value}`, moved, to) }, "Move")),
      h("div", { class: "row" }, added, words, above, h("button", { type: "button", class: "button small", onclick: () => given(added, above) && step({ add: added.value.trim(), label: words.value.trim(), to: above.value.trim() }, `new group ${added.value} below ${above.value}`, added, words, above) }, "Add a group")),
      done, messages, h("div", { class: "row" }, name, h("button", { type: "button", class: "button small primary", onclick: save }, "Save as a file")));
  }


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
