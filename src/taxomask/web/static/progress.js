// A job on its way: how far it is, and a button to cancel it. It is found again by its identifier after a reload.
"use strict";
import { get, post } from "./api.js";
import { h, say } from "./dom.js";
import { problem, state } from "./app.js";

const STAGES = { masking: "Masking", measuring: "Measuring risk and loss", writing: "Writing, and checking every promise" };

// Shows the job in a place until it is over; ``each`` is called with every new state. Resolves with the last one.
export async function watch(id, place, title, each = () => {}) {
  const bar = h("progress", { max: 1, "aria-label": title });
  const text = h("p", { class: "phase", role: "status" });
  const button = h("button", { type: "button", class: "button", onclick: async () => { button.disabled = true; await post(`/api/jobs/${id}/cancel`); } }, "Cancel");
  const panel = h("section", { class: "card-box job" }, h("h2", {}, title), bar, h("div", { class: "row" }, text, button));
  place.replaceChildren(panel);
  const address = location.hash;
  for (;;) {
    const job = await get(`/api/jobs/${id}`);
    const known = state.table?.jobs.find((one) => one.id === id);
    if (known) known.state = job.state;
    each(job);
    if (job.state === "done") { place.replaceChildren(); say("Done."); return job; }
    if (job.state === "failed") { place.replaceChildren(job.error.leaks?.length ? h("div", { class: "problem", role: "alert" }, h("b", {}, "The release was stopped: a column lets out what was protected or removed."), h("p", {}, "Nothing was released.")) : problem(job.error)); return job; }
    if (job.state === "cancelled") { place.replaceChildren(h("div", { class: "problem", role: "alert" }, h("b", {}, "Cancelled."), h("p", {}, "Nothing was released."))); return job; }
    const seconds = job.seconds ? ` · ${Math.round(job.seconds)} s` : "";
    if (job.state === "queued") { bar.removeAttribute("value"); text.textContent = job.ahead ? `Waiting for ${job.ahead} other job${job.ahead > 1 ? "s" : ""}` : "Starting"; }
    else if (!job.progress) { bar.removeAttribute("value"); text.textContent = `Reading the table${seconds}`; }
    else { bar.value = job.progress; text.textContent = `${STAGES[job.stage] ?? "Working"} · ${Math.floor(job.progress * 100)} %${seconds}`; }
    await new Promise((resolve) => setTimeout(resolve, 300));
    if (location.hash !== address) return job; // another step is shown; the job goes on
  }
}
