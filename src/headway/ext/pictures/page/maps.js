/* Attention maps in the browser: {queries, keys, layers, heads, weights}, where queries and keys are
 * labels and weights is [layer, head, query, key], flat. */
(function (headway) {
  "use strict";

  /** Turn the maps of one kind into numbers; a byte is weight times 255. */
  function decode(found) {
    const text = atob(found.weights);
    const size = found.layers * found.heads * found.queries.length * found.keys.length;
    if (text.length !== size) throw new Error("the weights do not fit their labels");
    return { ...found, weights: Float32Array.from(text, (letter) => letter.charCodeAt(0) / 255) };
  }

  function weight(map, layer, head, query, key) {
    return map.weights[((layer * map.heads + head) * map.queries.length + query) * map.keys.length + key];
  }

  function meanWeight(map, layer, heads, query, key) {
    let sum = 0;
    for (const head of heads) sum += weight(map, layer, head, query, key);
    return heads.length ? sum / heads.length : 0;
  }

  /** Return the keys that a query attends to most, strongest first, as [key, weight]. */
  function strongest(map, layer, heads, query, count) {
    return map.keys
      .map((_, key) => [key, meanWeight(map, layer, heads, query, key)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, count);
  }

  Object.assign(headway, { decode, weight, meanWeight, strongest });
})((globalThis.headway ??= {}));
