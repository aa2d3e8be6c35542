// Choosing a point of the map shows its numbers: the row of the table is marked and brought into view.
"use strict";
(() => {
  const points = document.querySelectorAll("[data-point]");
  const choose = (point) => {
    document.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
    const row = document.querySelector(`[data-row="${point.dataset.point}"]`);
    point.classList.add("chosen");
    if (row) { row.classList.add("chosen"); row.scrollIntoView({ block: "nearest", behavior: "smooth" }); }
  };
  points.forEach((point) => {
    point.addEventListener("click", () => choose(point));
    point.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(point); } });
  });
})();
