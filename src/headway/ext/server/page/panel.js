/* The attention of one sentence, below the texts. headway.panel(context) returns {open, close, isOpen};
 * context() returns {q, text, source, target, key}: what is translated, its translation, and the languages. */
(function (headway) {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const FRAGMENT_NAMES = ["kind", "view", "layer", "heads", "words", "pin", "sentence"];

  function panel(context) {
    let [number, sentences, request, opener] = [0, [], null, null];

    /** Show the sentence at a place of the text, or of an index, and pin a word of its translation. */
    async function open({ at = 0, word = null, index = null } = {}) {
      const { q: whole = "", text = "", source, target, key } = context();
      sentences = headway.sentences(whole, source);
      if (!sentences.length) return;
      const holding = sentences.findIndex(({ end }) => at < end);
      number = index ?? (holding < 0 ? sentences.length - 1 : holding);
      number = Math.min(number, sentences.length - 1);
      if ($("panel").hidden) opener = document.activeElement;
      request?.abort();
      const mine = (request = new AbortController());
      $("panel").hidden = false;
      $("position").textContent = `${number + 1} of ${sentences.length}`;
      for (const id of ["previous", "next", "position"]) $(id).hidden = sentences.length < 2;
      const focused = document.activeElement; // some browsers take the focus from a button that is disabled
      $("previous").disabled = number === 0;
      $("next").disabled = number === sentences.length - 1;
      if (focused?.disabled) $("panel").focus(); // a focused element receives Escape
      $("sentence").textContent = sentences[number].text;
      $("sentence-target").textContent = "";
      $("panel").setAttribute("aria-busy", "true");
      try {
        const q = sentences[number].text;
        const translation = headway.matchSentences(whole, source, text, target)[number];
        const options = { signal: mine.signal, key };
        const json = await headway.request("attention", { q, source, target, translation }, options);
        if (mine.signal.aborted) return;
        $("sentence-target").textContent = json.target;
        const root = headway.html("div", {});
        $("view").replaceChildren(root);
        headway.setFragment({ sentence: number + 1 });
        const view = headway.attention(root, json, { fragment: true });
        if (word && view) pin(view, word);
      } catch (error) {
        if (error.name === "AbortError") return;
        $("view").replaceChildren(headway.html("p", { className: "message" }, error.message));
      } finally {
        if (request === mine) $("panel").removeAttribute("aria-busy");
      }
    }

    /** Pin the chosen word. If several words are spelled like it, the nearest one is pinned. */
    function pin(view, word) {
      view.set({ words: true });
      const found = view.tokens().queries.map((label, query) => ({ label, query }))
        .filter(({ label }) => label === word.text)
        .sort((a, b) => Math.abs(a.query - word.place) - Math.abs(b.query - word.place));
      if (found.length) view.set({ pin: { query: found[0].query } });
    }

    function close() {
      request?.abort();
      $("panel").hidden = true;
      $("view").replaceChildren();
      headway.setFragment(Object.fromEntries(FRAGMENT_NAMES.map((name) => [name, null])));
      opener?.focus();
      opener = null;
    }

    $("previous").addEventListener("click", () => open({ index: number - 1 }));
    $("next").addEventListener("click", () => open({ index: number + 1 }));
    $("close").addEventListener("click", close);
    $("panel").addEventListener("keydown", (event) => event.key === "Escape" && close());
    return { open, close, isOpen: () => !$("panel").hidden };
  }

  Object.assign(headway, { panel });
})((globalThis.headway ??= {}));
