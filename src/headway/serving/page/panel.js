/* The attention of one sentence, below the texts. headway.panel(context) returns {open, close}:
 * context() says {text, source, target, key} of what is translated now. */
(function (headway) {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const OWN = ["kind", "view", "layer", "heads", "words", "pin", "sentence"];

  function panel(context) {
    let [number, sentences, asked, opener] = [0, [], null, null];

    /** Show the sentence that holds a place of the text, and pin a word of its translation. */
    async function open({ at = 0, word = null, index = null } = {}) {
      const { text, source, target, key } = context();
      sentences = headway.sentences(text, source);
      if (!sentences.length) return;
      const holding = sentences.findIndex(({ end }) => at < end);
      number = index ?? (holding < 0 ? sentences.length - 1 : holding);
      number = Math.min(number, sentences.length - 1);
      if ($("panel").hidden) opener = document.activeElement;
      asked?.abort();
      const mine = (asked = new AbortController());
      $("panel").hidden = false;
      $("which").textContent = `${number + 1} of ${sentences.length}`;
      for (const id of ["before", "after", "which"]) $(id).hidden = sentences.length < 2;
      $("before").disabled = number === 0;
      $("after").disabled = number === sentences.length - 1;
      if (document.activeElement?.disabled) $("panel").focus(); // Escape must still be heard
      $("sentence").textContent = sentences[number].text;
      $("sentence-target").textContent = "";
      $("panel").setAttribute("aria-busy", "true");
      try {
        const q = sentences[number].text;
        const json = await headway.ask("attention", { q, source, target, ...key }, mine.signal);
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
        if (asked === mine) $("panel").removeAttribute("aria-busy");
      }
    }

    /** Pin the word that was chosen: the one of its spelling that is nearest to its place. */
    function pin(view, word) {
      view.set({ words: true });
      const found = view.tokens().queries.map((label, query) => ({ label, query }))
        .filter(({ label }) => label === word.text)
        .sort((a, b) => Math.abs(a.query - word.place) - Math.abs(b.query - word.place));
      if (found.length) view.set({ pin: { query: found[0].query } });
    }

    function close() {
      asked?.abort();
      $("panel").hidden = true;
      $("view").replaceChildren();
      headway.setFragment(Object.fromEntries(OWN.map((name) => [name, null])));
      opener?.focus();
      opener = null;
    }

    $("before").addEventListener("click", () => open({ index: number - 1 }));
    $("after").addEventListener("click", () => open({ index: number + 1 }));
    $("close").addEventListener("click", close);
    $("panel").addEventListener("keydown", (event) => event.key === "Escape" && close());
    return { open, close, isOpen: () => !$("panel").hidden };
  }

  Object.assign(headway, { panel });
})((globalThis.headway ??= {}));
