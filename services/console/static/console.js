// Keys, and whether the page is still live or old. Everything works without this file, but slower.
(() => {
  "use strict";
  // Some looks at everything, of which each brings a message.
  const STALE_MS = 12000;
  // Longer than a wait for a connection to the ledger (5 s) and two of a search's statements (10 s each), so that
  // the console's own words are heard.
  const READ_MS = 30000;
  const AGAIN_MS = 5000;
  const HOLD_MS = 3000;
  const PRESS_MS = 15000;
  // Longer than the console waits for the lookout (25 s), and for a connection to the ledger (5 s) before and after.
  const UNKNOWN_MS = 40000;
  const SILENT = "the console does not answer";
  const told = {yes: "live", held: "held while you point"};
  const places = {n: "/", a: "/alerts", t: "/todo", c: "/channels", w: "/watches", r: "/routes", s: "/silences"};
  let heardAt = Date.now();
  let shownAt = Date.now();
  let pointedAt = 0;
  let pending = "";
  let chosen = "";
  let unknown = 0;

  function live(state) {
    if (document.body.dataset.live !== state) document.body.dataset.live = state;
    const place = document.querySelector(".live");
    if (!place) return;
    const quiet = Math.round((Date.now() - heardAt) / 1000);
    const text = told[state] ?? `not live for ${quiet} s`;
    if (place.textContent !== text) place.textContent = text;
  }

  // A row does not slip away under the pointer: each message shows all, so one may be left out.
  function holdWhilePointed() {
    document.addEventListener("pointermove", (event) => {
      pointedAt = event.target.closest("[data-row]") ? Date.now() : 0;
    });
    document.addEventListener("htmx:sse:before:message", (event) => {
      if (Date.now() - pointedAt > HOLD_MS) return;
      event.preventDefault();
      heardAt = Date.now();
      live("held");
    });
  }

  function watchLife() {
    const followed = document.querySelector("[hx-sse\\:connect]");
    if (!followed) return;
    holdWhilePointed();
    document.addEventListener("htmx:sse:after:message", () => { heardAt = Date.now(); live("yes"); });
    const stale = () => Date.now() - heardAt > STALE_MS;
    setInterval(() => { if (stale()) live("no"); }, 1000);
    // The extension connects again only what was connected once.
    setInterval(() => { if (stale()) htmx.trigger(followed, "stale"); }, AGAIN_MS);
  }

  // What a page asks by itself: a search, and what is asked again and again.
  function isOwn(element) { return Boolean(element?.matches("[role=search], [hx-trigger^=every]")); }

  function saidBy(answer) {
    return new DOMParser().parseFromString(answer, "text/html").getElementById("problem")?.textContent;
  }

  // htmx leaves what stands where it stands, so it would pass for the answer that has not come.
  function tellTrouble(ctx, reason) {
    const place = document.getElementById("trouble");
    if (!place || !isOwn(ctx?.sourceElement)) return;
    const text = `${reason}; what stands here is from ${new Date(shownAt).toISOString().slice(11, 19)}Z`;
    // Told once: a screen reader says it again whenever it is set.
    if (place.textContent !== text) place.textContent = text;
  }

  function watchAnswers() {
    document.addEventListener("htmx:error", (event) => {
      const {ctx} = event.detail;
      tellTrouble(ctx, SILENT);
      if (ctx?.sourceElement?.matches("[hx-trigger=load]")) ctx.sourceElement.textContent = `${SILENT}: load the page again`;
    });
    document.addEventListener("htmx:response:error", (event) => {
      const {response, text} = event.detail.ctx;
      if (response.status >= 500) tellTrouble(event.detail.ctx, saidBy(text) ?? SILENT);
    });
    document.addEventListener("htmx:after:swap", (event) => {
      const {response, sourceElement} = event.detail.ctx;
      if (response?.status !== 200 || !isOwn(sourceElement)) return;
      shownAt = Date.now();
      document.getElementById("trouble")?.replaceChildren();
    });
  }

  function rows() { return [...document.querySelectorAll("[data-row]")]; }

  function chosenAt(all) {
    const at = all.findIndex((each) => each.classList.contains("selected"));
    return at < 0 ? all.indexOf(document.activeElement?.closest("[data-row]")) : at;
  }

  function move(step) {
    const all = rows();
    if (!all.length) return;
    const next = all[Math.min(all.length - 1, Math.max(0, chosenAt(all) + step))];
    all.forEach((each) => each.classList.toggle("selected", each === next));
    chosen = next.id;
    next.querySelector("a")?.focus({preventScroll: true});
    next.scrollIntoView({block: "nearest"});
  }

  // What the server draws knows of no chosen row.
  function chooseAgain() { if (chosen) document.getElementById(chosen)?.classList.add("selected"); }

  function disable(button) {
    button.disabled = true;
    setTimeout(() => { button.disabled = false; }, PRESS_MS);
  }

  function enablePressed() {
    clearTimeout(unknown);
    for (const each of document.querySelectorAll("button:disabled")) each.disabled = false;
  }

  // The press goes on meanwhile: an answer that comes late after all is shown.
  function tellUnknown(form) {
    const place = document.createElement("p");
    place.className = "said problem unknown";
    place.setAttribute("role", "alert");
    place.textContent = `No answer for ${UNKNOWN_MS / 1000} s: whether this was done is not known. ` +
      "Press again, with what stands here: that is safe, whether it was done or not.";
    form.append(place);
  }

  function watchPress(form) {
    clearTimeout(unknown);
    document.querySelector(".unknown")?.remove();
    unknown = setTimeout(() => tellUnknown(form), UNKNOWN_MS);
  }

  // Whoever has logged in in another tab comes back to what was typed: the form is of that session then.
  async function takeSession() {
    const word = document.querySelector("#typed [name=word]");
    const answer = word && await fetch("/me").catch(() => null);
    const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
    const mine = page && page.querySelector("[name=word]");
    if (!mine || mine.value === word.value) return;
    word.value = mine.value;
    document.getElementById("now-as").textContent =
      `You are logged in as ${page.querySelector(".top [href='/me']").textContent} now: press again.`;
  }

  function help() {
    const dialog = document.getElementById("keys");
    if (dialog) dialog.open ? dialog.close() : dialog.showModal();
  }

  function act(event) {
    if (pending === "g") { pending = ""; if (places[event.key]) location.assign(places[event.key]); return true; }
    switch (event.key) {
      case "g": pending = "g"; setTimeout(() => { pending = ""; }, 1500); return true;
      case "j": move(1); return true;
      case "k": move(-1); return true;
      case "/": { const box = document.getElementById("search"); if (box) box.focus(); else location.assign("/alerts"); return true; }
      case "?": help(); return true;
      case "x": { const take = document.querySelector("[data-key=x]"); take?.focus(); return Boolean(take); }
    }
    return false;
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (act(event)) event.preventDefault();
  });
  document.addEventListener("click", (event) => { if (event.target.closest("[data-help]")) help(); });
  document.addEventListener("submit", (event) => {
    // A second press while the first is on its way sends nothing; the server would drop it too.
    // A search and a dialog stay on their page, and may be asked again.
    const button = event.target.matches("[hx-get], [method=dialog]") ? null : event.submitter;
    if (!button) return;
    watchPress(event.target);
    setTimeout(() => disable(button));
  });
  // Where no answer has come, the page is still there: somebody stopped it, or came back to it.
  window.addEventListener("pageshow", enablePressed);
  window.navigation?.addEventListener("navigateerror", enablePressed);
  window.addEventListener("focus", takeSession);
  // The address is the search that is shown, to be sent to somebody; one that is refused is not shown.
  document.addEventListener("htmx:after:swap", (event) => {
    chooseAgain();
    const {request, response, sourceElement} = event.detail.ctx;
    if (response?.status === 200 && sourceElement?.matches("[role=search]")) history.replaceState(null, "", request.action);
  });
  htmx.config.defaultTimeout = READ_MS;
  watchLife();
  watchAnswers();
})();
