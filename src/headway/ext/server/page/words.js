/* Words and sentences of a text, and the elements that show them. Words are those of find_words on the
 * server. Texts become text nodes only, so that no text is read as HTML. */
(function (headway) {
  "use strict";

  const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200b\\u2028\\u2029\\u202f\\u205f\\u3000";
  // Characters that nobody sees; between two spaces they are no word.
  const UNSEEN =
    "\\xad\\u034f\\u061c\\u17b4\\u17b5\\u180b-\\u180f\\u200c-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff" +
    "\\ufff0-\\ufff8\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";
  // Scripts without spaces between words: each character is a word, and each row of katakana.
  const SINGLE =
    "\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff" +
    "\\u3005-\\u3007\\u3041-\\u309f\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{323af}";
  const KATAKANA = "\\u30a1-\\u30fa\\u30fc-\\u30ff\\uff66-\\uff9f";
  const OPENING = "「『（［｛〈《【〔“‘(\\[\\{<";
  const WORD = new RegExp(
    `[${OPENING}${UNSEEN}]{0,8}(?:[${KATAKANA}]+(?:[${UNSEEN}]+[${KATAKANA}]+)*|[${SINGLE}])` +
      `[^\\p{L}\\p{N}_${SPACE}${OPENING}]*` +
      `|(?!(?<=[${UNSEEN}])[${UNSEEN}])(?=[${UNSEEN}]*[^${SPACE}${UNSEEN}])` +
      `(?:(?![${OPENING}${UNSEEN}]{1,8}[${SINGLE}${KATAKANA}])[^${SPACE}${SINGLE}${KATAKANA}])+`,
    "gu",
  );

  /** Return the words of a text as {text, start, end}. */
  function words(text) {
    const found = [...text.matchAll(WORD)];
    return found.map(({ 0: word, index }) => ({ text: word, start: index, end: index + word.length }));
  }

  /** Return the sentences of a text as {text, start, end}; a line break always ends a sentence. */
  function sentences(text, language) {
    const found = [];
    const splitter = new Intl.Segmenter(canonicalCode(language), { granularity: "sentence" });
    for (const line of text.matchAll(/[^\n]+/g))
      for (const { segment, index } of splitter.segment(line[0])) {
        const start = line.index + index;
        if (segment.trim()) found.push({ text: segment.trim(), start, end: start + segment.length });
      }
    return found;
  }

  /** Return the translation of each sentence of a text, or "" where it is not clear. Each line is translated
   * by itself, and a sentence mostly becomes one sentence. */
  function matchSentences(text, source, translation, target) {
    const lines = translation.split("\n");
    return text.split("\n").flatMap((line, i) => {
      const [here, there] = [sentences(line, source), sentences(lines[i] ?? "", target)];
      if (here.length === 1) return [(lines[i] ?? "").trim()];
      return here.map((_, n) => (here.length === there.length ? there[n].text : ""));
    });
  }

  /** Return the language code as the browser writes it, or undefined if the code is unknown. */
  function canonicalCode(language) {
    try {
      return Intl.getCanonicalLocales(language)[0];
    } catch {
      return undefined;
    }
  }

  /** Show a text with an element around each word, and return these elements. */
  function showWords(root, text) {
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

  const LEVELS = [[0.4, "poor"], [0.55, "doubtful"]]; // the quality below which a sentence gets a color

  /** Color the words of sentences of low quality, and let a title say what is known of each sentence.
   * The server counts characters; a string of JavaScript may have two units for one. */
  function showQuality(spans, text, sentences) {
    const characters = Array.from(text);
    const places = words(text);
    for (const { start, end, quality, defects, repaired } of sentences) {
      const [from, to] = [start, end].map((count) => characters.slice(0, count).join("").length);
      const notes = [...repaired.map((name) => `${name} repaired`), ...defects];
      const level = LEVELS.find(([limit]) => quality < limit)?.[1];
      spans.forEach((span, i) => {
        if (places[i].start < from || places[i].start >= to) return;
        if (level) span.classList.add(level);
        span.title = [`Quality ${quality.toFixed(2)}`, ...notes].join(", ");
      });
    }
  }

  Object.assign(headway, { words, sentences, matchSentences, showWords, showQuality });
})((globalThis.headway ??= {}));
