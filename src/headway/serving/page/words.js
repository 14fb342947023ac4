/* Words and sentences of a text, and the elements that show them: a word is what white space parts,
 * as on the server. Texts only ever become text nodes. */
(function (headway) {
  "use strict";

  const WORD = /[^\s\x1c-\x1f\x85]+/g;

  /** List the words of a text as {text, start, end}. */
  function words(text) {
    const found = [...text.matchAll(WORD)];
    return found.map(({ 0: word, index }) => ({ text: word, start: index, end: index + word.length }));
  }

  /** List the sentences of a text as {text, start, end}; a line break always ends one. */
  function sentences(text, language) {
    const found = [];
    const splitter = new Intl.Segmenter(known(language), { granularity: "sentence" });
    for (const line of text.matchAll(/[^\n]+/g))
      for (const { segment, index } of splitter.segment(line[0])) {
        const start = line.index + index;
        if (segment.trim()) found.push({ text: segment.trim(), start, end: start + segment.length });
      }
    return found;
  }

  /** The language, if the browser takes its code for one. */
  function known(language) {
    try {
      return Intl.getCanonicalLocales(language)[0];
    } catch {
      return undefined;
    }
  }

  /** Show a text with an element around each word; returns these elements. */
  function show(root, text) {
    const spans = [];
    const parts = [];
    let at = 0;
    for (const word of words(text)) {
      const span = headway.html("span", { className: "word" }, word.text);
      span.dataset.word = spans.length;
      spans.push(span);
      parts.push(text.slice(at, word.start), span);
      at = word.end;
    }
    root.replaceChildren(...parts, text.slice(at));
    return spans;
  }

  Object.assign(headway, { words, sentences, show });
})((globalThis.headway ??= {}));
