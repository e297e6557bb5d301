// Flights that move: what has changed since the last look is marked for a while, and told now and then.
"use strict";
(() => {
  const MARKED_MS = 6000, TOLD_MS = 20000;
  const marked = new Map(); // id of a row: until when, and which of its cells
  const news = new Set();
  let told = 0, timer = 0;

  // The new rows are compared with those that they replace, before they do.
  document.addEventListener("renew", (event) => {
    const fresh = event.detail, now = Date.now();
    for (const row of fresh.querySelectorAll("[data-mark][id]")) {
      const old = document.getElementById(row.id);
      if (old && old.dataset.mark !== row.dataset.mark) {
        const cells = [...row.cells].map((cell, n) => cell.textContent !== old.cells[n]?.textContent);
        marked.set(row.id, { until: now + MARKED_MS, cells });
        news.add(row.id);
      }
      const mark = marked.get(row.id);
      if (mark && mark.until > now) dress(row, mark.cells);
    }
    setTimeout(fade, MARKED_MS + 100);
    if (news.size && !timer) timer = setTimeout(tell, Math.max(1000, told + TOLD_MS - now));
  });

  function dress(row, cells) {
    row.classList.add("moved");
    [...row.cells].forEach((cell, n) => cell.classList.toggle("moved-cell", cells[n] === true));
  }
  function fade() {
    const now = Date.now();
    for (const [id, mark] of marked) {
      if (mark.until > now) continue;
      marked.delete(id);
      const row = document.getElementById(id);
      if (!row) continue;
      row.classList.remove("moved");
      for (const cell of row.cells) cell.classList.remove("moved-cell");
    }
  }
  // One sentence for all of them: somebody who listens is not to be talked at.
  function tell() {
    timer = 0;
    told = Date.now();
    const place = document.getElementById("live"), board = document.querySelector("[data-news]");
    if (place && board) place.textContent = board.dataset.news.replace("%", String(news.size));
    news.clear();
  }
})();
