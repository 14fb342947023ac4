/* Attention in words: the line above the figure, the table below it, and the moves of the keyboard. */
(function (headway) {
  "use strict";

  /** Describe the token at a spot: the keys that it attends to, or the queries that attend to it. */
  function reading(map, { layer, heads }, spot) {
    const { queries, keys } = map;
    const { query, key, head } = spot ?? {};
    if (head !== undefined) return `Layer ${spot.layer + 1}, head ${head + 1}: Enter or a click opens it.`;
    const mean = heads.length > 1 ? ` (mean of ${heads.length} heads)` : "";
    const list = (pairs) => pairs.map(([label, weight]) => `${label} ${weight.toFixed(2)}`).join(", ") + mean;
    const weight = (from) => headway.meanWeight(map, layer, heads, from, key);
    if (query !== undefined && key !== undefined)
      return `${queries[query]} → ${list([[keys[key], weight(query)]])}`;
    if (query !== undefined) {
      const best = headway.strongest(map, layer, heads, query, 3);
      return `${queries[query]} → ${list(best.map(([to, weight]) => [keys[to], weight]))}`;
    }
    if (key === undefined) return "";
    const from = queries.map((label, i) => [label, weight(i)]).sort((a, b) => b[1] - a[1]);
    return `${keys[key]} ← ${list(from.slice(0, 3))}`;
  }

  /** List for each query the key with the largest weight of each head, for readers who cannot see the figure. */
  function table(map, { layer, heads }) {
    const { queries, keys } = map;
    const columns = heads.map((head) => [`Head ${head + 1}`, [head]]);
    if (heads.length > 1) columns.unshift(["Mean", heads]);
    const rows = queries.map((label, query) => [
      label,
      ...columns.map(([, of]) => {
        const [[key, weight]] = headway.strongest(map, layer, of, query, 1);
        return `${keys[key]} ${weight.toFixed(2)}`;
      }),
    ]);
    return { titles: ["Token", ...columns.map(([title]) => title)], rows };
  }

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /** Return the spot to which an arrow key, Home or End leads; null for another key. */
  function moved(map, { view, layer, heads, pin }, spot, pressed) {
    const [dx, dy] = ARROWS[pressed] ?? [0, 0];
    const end = { Home: -1e9, End: 1e9 }[pressed] ?? 0;
    if (!dx && !dy && !end) return null;
    const [rows, columns] = [map.queries.length, map.keys.length];
    const keep = (value, count) => Math.max(0, Math.min(count - 1, value));
    if (view === "grid") {
      if (!spot) return { layer, head: heads[0] };
      return { layer: keep(spot.layer + dy, map.layers), head: keep(spot.head + dx + end, map.heads) };
    }
    if (view === "heat") {
      if (!spot) return { query: pin?.query ?? 0, key: pin?.key ?? 0 };
      return { query: keep(spot.query + dy, rows), key: keep(spot.key + dx + end, columns) };
    }
    const at = spot ?? pin;
    if (!at) return { query: 0 };
    // Along the tokens of a side, or across to the other side.
    const [along, across] = view === "paper" ? [dx, dy] : [dy, dx];
    const before = across < 0 || (across === 0 && at.query !== undefined);
    const to = keep((at.query ?? at.key) + along + end, before ? rows : columns);
    return before ? { query: to } : { key: to };
  }

  Object.assign(headway, { reading, table, moved });
})((globalThis.headway ??= {}));
