"use strict";
// Sorts tables and shows names of points. Every page is complete without it.
(() => {
  const texts = new Intl.Collator("en", { numeric: true });

  const key = (row, column) => {
    const { value } = row.cells[column].dataset;
    const text = row.cells[column].textContent.trim();
    if (value !== undefined) return Number(value);
    return text === "" || text === "–" ? undefined : text;
  };

  // Missing values stay last in both orders.
  const compare = (a, b, sign) => {
    if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * texts.compare(a, b);
  };

  const sort = (table, title) => {
    const order = title.getAttribute("aria-sort");
    const first = title.classList.contains("figure") ? "descending" : "ascending";
    const second = first === "ascending" ? "descending" : "ascending";
    const next = order === first ? second : first;
    for (const other of title.parentElement.cells) other.removeAttribute("aria-sort");
    title.setAttribute("aria-sort", next);
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [key(row, title.cellIndex), row]);
    keyed.sort(([a], [b]) => compare(a, b, next === "ascending" ? 1 : -1));
    body.append(...keyed.map(([, row]) => row));
  };

  const makeSortable = (table) => {
    const rows = [...table.tBodies[0].rows];
    const titles = [...table.tHead.rows[0].cells];
    // Rows below headings belong to them.
    if (rows.length < 2 || rows.some((row) => row.cells.length !== titles.length)) return;
    for (const title of titles) {
      if (title.textContent.trim() === "") continue;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...title.childNodes);
      button.addEventListener("click", () => sort(table, title));
      title.append(button);
    }
  };

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;

  const showTip = (mark) => {
    const place = mark.getBoundingClientRect();
    tip.textContent = mark.dataset.name;
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${scrollX + Math.max(4, Math.min(place.left, room))}px`;
    tip.style.top = `${scrollY + place.top - tip.offsetHeight - 6}px`;
  };
  const hideTip = () => { tip.hidden = true; };

  // The arrow keys go from point to point, so that a chart is one stop of the tab key.
  const makeTipped = (chart) => {
    const marks = [...chart.querySelectorAll(".mark")].filter((mark) => mark.querySelector("title"));
    if (marks.length === 0) return;
    let at = -1;
    for (const mark of marks) {
      const name = mark.querySelector("title");
      mark.dataset.name = name.textContent;
      mark.addEventListener("pointerenter", () => showTip(mark));
      mark.addEventListener("pointerleave", hideTip);
      // Else the browser shows its own, later.
      name.remove();
    }
    chart.tabIndex = 0;
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hideTip();
      if (step === undefined) return;
      at = (at + step + marks.length) % marks.length;
      showTip(marks[at]);
      event.preventDefault();
    });
    chart.addEventListener("blur", hideTip);
  };

  document.querySelectorAll(".table table").forEach(makeSortable);
  document.querySelectorAll("figure svg").forEach(makeTipped);
  document.body.append(tip);
})();
