/* Attention maps in the browser: decoding the bytes, merging subwords to words, reading numbers.
 * A map is {queries, keys, layers, heads, weights}: weights is [layer, head, query, key], flat. */
(function (headway) {
  "use strict";

  const CONTROL = new Set(["<start>", "</s>", "<pad>"]);
  const isControl = (label) => CONTROL.has(label);

  /** Turn one kind of the JSON into numbers; a byte is weight times 255. */
  function decode(found) {
    const text = atob(found.weights);
    const size = found.layers * found.heads * found.queries.length * found.keys.length;
    if (text.length !== size) throw new Error("the weights do not fit their labels");
    return { ...found, weights: Float32Array.from(text, (letter) => letter.charCodeAt(0) / 255) };
  }

  /** List the tokens of each word: a word begins with a space, a control token is one alone. */
  function wordGroups(labels) {
    const groups = [];
    let blank = false; // nothing but spaces so far: what comes next still belongs to the word
    labels.forEach((label, i) => {
      const last = groups.at(-1);
      const apart = !last || isControl(label) || isControl(labels[last.at(-1)]);
      if (apart || (label.startsWith(" ") && !blank)) {
        groups.push([i]);
        blank = true;
      } else last.push(i);
      blank = blank && !label.replaceAll(" ", "");
    });
    return groups;
  }

  /** Join the pieces of a word; bytes that were spelled out become their characters. */
  function spell(pieces) {
    if (isControl(pieces[0])) return pieces[0];
    const encoder = new TextEncoder();
    const bytes = pieces.flatMap((piece) =>
      /^<0x[0-9A-F]{2}>$/.test(piece) ? [parseInt(piece.slice(3, 5), 16)] : [...encoder.encode(piece)]);
    return " " + new TextDecoder().decode(new Uint8Array(bytes)).replace(/^ +| +$/g, "");
  }

  /** Merge subwords to words: weights of a word's keys are summed, of its queries averaged. */
  function mergeWords(map) {
    const rows = wordGroups(map.queries);
    const columns = wordGroups(map.keys);
    const weights = new Float32Array(map.layers * map.heads * rows.length * columns.length);
    let at = 0;
    for (let layer = 0; layer < map.layers; layer++)
      for (let head = 0; head < map.heads; head++)
        for (const row of rows)
          for (const column of columns) {
            let sum = 0;
            for (const query of row) for (const key of column) sum += weight(map, layer, head, query, key);
            weights[at++] = sum / row.length;
          }
    const label = (labels) => (group) => spell(group.map((i) => labels[i]));
    const queries = rows.map(label(map.queries));
    return { ...map, queries, keys: columns.map(label(map.keys)), weights };
  }

  function weight(map, layer, head, query, key) {
    return map.weights[((layer * map.heads + head) * map.queries.length + query) * map.keys.length + key];
  }

  function meanWeight(map, layer, heads, query, key) {
    let sum = 0;
    for (const head of heads) sum += weight(map, layer, head, query, key);
    return heads.length ? sum / heads.length : 0;
  }

  /** The keys that a query attends to most, strongest first, as [key, weight]. */
  function strongest(map, layer, heads, query, count) {
    return map.keys
      .map((_, key) => [key, meanWeight(map, layer, heads, query, key)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, count);
  }

  /** How labels are shown: without the space that begins a word, and a dot before one that goes on. */
  function shown(labels) {
    const marked = labels.some((label) => label.startsWith(" "));
    return labels.map((label) => {
      if (isControl(label)) return label;
      const text = label.replace(/^ /, "").replace(/[\s\p{Cc}]/gu, "␣"); // control codes are no XML
      const goesOn = marked && !label.startsWith(" ") && /[\p{L}\p{N}]/u.test(label);
      return (goesOn ? "·" + text : text) || "␣";
    });
  }

  Object.assign(headway, { decode, mergeWords, weight, meanWeight, strongest, shown });
})((globalThis.headway ??= {}));
