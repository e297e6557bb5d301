// Refreshes what a page shows when it has changed. Everything can be read and done without this file.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const LEAST_MS = 2000, FIRST_MS = 2000, LONGEST_MS = 60000;

  document.addEventListener("DOMContentLoaded", () => {
    menu();
    picks();
    const address = document.body.dataset.stream;
    if (address && "EventSource" in window) watch(address);
  });

  function menu() {
    const button = document.querySelector(".menu-button");
    if (!button) return;
    button.addEventListener("click", () => {
      const open = root.classList.toggle("menu-open");
      button.setAttribute("aria-expanded", String(open));
    });
  }

  // A box in the head of a table chooses all of its rows.
  function picks() {
    document.addEventListener("change", (event) => {
      const box = event.target;
      if (!(box instanceof HTMLInputElement) || box.dataset.pickAll === undefined) return;
      const form = box.form;
      for (const one of form.querySelectorAll('input[type="checkbox"][name="id"]')) one.checked = box.checked;
    });
  }

  function watch(address) {
    const live = document.getElementById("live"), state = document.getElementById("link-state");
    let source = null, timer = 0, failures = 0, marks = null, lost = false;
    let due = false, fetching = false, lastFetch = 0, pauseUntil = 0;

    function open() {
      close();
      if (document.hidden) return;
      source = new EventSource(address);
      source.addEventListener("open", () => { failures = 0; });
      source.addEventListener("pulse", (event) => take(JSON.parse(event.data)));
      source.addEventListener("error", () => {
        // A stream that came to its regular end is opened again by the browser itself.
        if (source && source.readyState === EventSource.CONNECTING && failures === 0) { failures = 1; return; }
        close();
        later();
      });
    }
    function close() {
      clearTimeout(timer);
      if (source) source.close();
      source = null;
    }
    function later() {
      failures += 1;
      const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures - 1));
      timer = setTimeout(open, pause * (0.5 + Math.random() / 2));
      if (failures > 2) connected(false);
      if (failures === 3) refresh(); // a session that has ended leads to the sign-in page
    }
    function connected(yes) {
      if (lost === !yes) return;
      lost = !yes;
      state.hidden = yes;
      live.textContent = yes ? live.dataset.back : live.dataset.lost;
    }

    function take(pulse) {
      failures = 0;
      connected(true);
      for (const badge of document.querySelectorAll("[data-badge]")) {
        const n = pulse.badges[badge.dataset.badge] || 0;
        const before = badge.hidden ? 0 : Number(badge.textContent.replace(/\D/g, ""));
        badge.textContent = String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
        badge.hidden = n === 0;
        if (badge.dataset.badge === "alerts" && n > before)
          live.textContent = live.dataset.alerts.replace("%", String(n));
      }
      const old = marks;
      marks = pulse.marks;
      const seen = topics();
      if (old && seen.some((topic) => old[topic] !== marks[topic])) refresh();
    }
    function topics() {
      return [...document.querySelectorAll("[data-live]")].flatMap((part) => part.dataset.live.split(" "));
    }

    function refresh() {
      if (due || document.hidden) return;
      due = true;
      const wait = Math.max(0, lastFetch + LEAST_MS - Date.now(), pauseUntil - Date.now());
      setTimeout(fetchPage, wait);
    }
    async function fetchPage() {
      due = false;
      if (fetching || document.hidden) return;
      fetching = true;
      lastFetch = Date.now();
      try {
        const clean = new URL(location.href);
        clean.searchParams.delete("done");
        clean.searchParams.delete("n");
        const answer = await fetch(clean, { headers: { Accept: "text/html" }, redirect: "manual" });
        if (answer.type === "opaqueredirect") { location.reload(); return; }
        if (!answer.ok) {
          pauseUntil = Date.now() + 1000 * Number(answer.headers.get("Retry-After") || 10);
          refresh();
          return;
        }
        replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } catch {
        pauseUntil = Date.now() + 5000;
      } finally {
        fetching = false;
      }
    }
    function replace(page) {
      for (const part of document.querySelectorAll("[data-live][id]")) {
        const fresh = page.getElementById(part.id);
        // What somebody is at work in stays as it is: a form that is filled in, a text that is marked.
        if (!fresh || busy(part)) continue;
        if (fresh.innerHTML === part.dataset.was) continue;
        const open = new Set([...part.querySelectorAll("details[open][id]")].map((each) => each.id));
        const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
        part.dataset.was = fresh.innerHTML;
        part.dispatchEvent(new CustomEvent("renew", { detail: fresh, bubbles: true }));
        part.replaceChildren(...fresh.childNodes);
        for (const id of open) document.getElementById(id)?.setAttribute("open", "");
        if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
      }
      const foot = page.querySelector(".foot");
      if (foot) document.querySelector(".foot").replaceChildren(...foot.childNodes);
    }
    function busy(part) {
      const at = document.activeElement;
      if (at && part.contains(at) && at !== part && at.id === "") return true;
      if (part.querySelector("input[type=checkbox]:checked")) return true;
      for (const input of part.querySelectorAll("input:not([type=hidden]):not([type=checkbox]), textarea"))
        if (input.value !== input.defaultValue) return true;
      const marked = getSelection();
      return Boolean(marked && !marked.isCollapsed && part.contains(marked.anchorNode));
    }

    document.addEventListener("visibilitychange", () => {
      if (document.hidden) { close(); return; }
      failures = 0;
      open();
      refresh();
    });
    addEventListener("pagehide", close);
    addEventListener("pageshow", (event) => { if (event.persisted) open(); });
    open();
  }
})();
