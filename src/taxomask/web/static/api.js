// Talking to the server.
"use strict";

async function answer(response) {
  let content = {};
  try { content = await response.json(); } catch { /* an answer without content */ }
  if (!response.ok) throw Object.assign(new Error(content.message || "The server does not answer."), { hint: content.hint, step: content.step, column: content.column, status: response.status });
  return content;
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", redirect: "error", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new Error("The server does not answer."), { hint: "Was it ended in its terminal? Start it again with: taxomask serve" });
  }
  return answer(response);
}

export const get = (path) => send(path);
export function post(path, content = {}) {
  const body = JSON.stringify(content);
  return send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: body.length < 15_000 }); // also if the page is left now
}
export const upload = (path, file) =>
  send(`${path}?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
