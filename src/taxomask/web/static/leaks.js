// What else lets out what was protected or removed: for each finding the ways out, and another try.
"use strict";
import { post } from "./api.js";
import { choice, field, h, unique } from "./dom.js";
import { changed, follow, plan, problem, startJob, state } from "./app.js";

export function waysOut(leaks) {
  const { draft, table } = state;
  const messages = h("div", {});
  const keys = [...new Set(leaks.map((one) => JSON.stringify(one.columns)))];
  const cases = keys.map((key) => oneCase(leaks.filter((one) => JSON.stringify(one.columns) === key)));
  const again = async () => {
    const undecided = cases.find((one) => !one.decided());
    if (undecided) { messages.replaceChildren(problem({ message: `Say what to do about ${undecided.name}.`, hint: "If it is accepted, a reason is needed: it is repeated in the public note, the report and the audit." })); return; }
    cases.forEach((one) => one.apply());
    changed();
    try {
      await post(`/api/tables/${table.id}/check`, plan());
      await follow(async () => ["look", table.id, await startJob("protect", {}, { format: draft.format })]);
    } catch (error) { messages.replaceChildren(problem(error)); }
  };
  return [
    h("p", { class: "lead" }, "The method did what it should. But these columns let out what was protected or removed. Decide about each of them."),
    ...cases.map((one) => one.panel), messages,
    h("div", { class: "foot" }, h("a", { class: "button", href: `#/describe/${table.id}` }, "Change the columns"), h("button", { type: "button", class: "button primary", onclick: again }, "Protect it again")),
  ];
}

function oneCase(some) {
  const { draft } = state;
  const { columns } = some[0];
  const name = columns.join(" and ");
  const attributes = columns.map((one) => draft.attributes.find((other) => other.name === one));
  const role = (one) => draft.attributes.find((other) => other.name === one)?.role;
  const leaders = columns.length === 1 ? [...new Set(some.map((one) => one.of))].filter((one) => role(one) !== "identifier") : [];
  let way = "";
  let leader = leaders[0];
  const reason = h("input", { type: "text", size: 60, maxlength: 400 });
  const group = unique("way");
  const option = (value, label, about) => h("label", { class: "check" }, h("input", { type: "radio", name: group, value, onchange: () => { way = value; more.hidden = way !== "accept"; } }), h("span", {}, h("b", {}, label), " ", h("span", { class: "small soft" }, about)));
  const more = h("div", {}, field(`Why ${name} may be released nevertheless`, reason, "Repeated in the public note, the report and the audit."));
  more.hidden = true;
  const drop = (one) => { one.role = "identifier"; delete one.follows; };
  const apply = () => {
    draft.accept = (draft.accept || []).filter((one) => JSON.stringify(one.columns) !== JSON.stringify(columns));
    if (way === "follow") Object.assign(attributes[0], { role: "other", follows: leader });
    if (way === "drop") attributes.forEach(drop);
    if (way === "accept") draft.accept = [...draft.accept, { columns, reason: reason.value.trim() }];
  };
  const panel = h("section", { class: "card-box leak", "aria-label": name }, h("h2", {}, name), h("ul", {}, some.map((one) => h("li", {}, one.found))),
    h("fieldset", {}, h("legend", {}, `What to do about ${name}`),
      leaders.length ? h("div", {}, option("follow", `Let it follow ${leaders.length > 1 ? "a column" : leader}`, "what is released is what belongs to the released value, such as the text of a code"),
        leaders.length > 1 ? choice(leaders, leader, (value) => { leader = value; }, { "aria-label": `What ${name} follows` }) : null) : null,
      h("div", {}, option("drop", columns.length > 1 ? "Leave them out" : "Leave it out", "it is not released")),
      h("div", {}, option("accept", "Accept it", "it is released as it is"), more)));
  return { name, panel, apply, decided: () => Boolean(way) && (way !== "accept" || reason.value.trim() !== "") };
}
