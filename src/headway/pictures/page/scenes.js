/* The views of attention as lists of plain shapes, which the writers then turn into SVG or pixels.
 * A scene is {width, height, items}; an item is a line, rect, path or text with its looks, and `data`
 * says which token it is. What lies `under` the items stays the same array until it must change.
 * `spot` is what is looked at: {query}, {key}, both, or {layer, head}. */
(function (headway) {
  "use strict";

  const COLOURS = ["#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f"];
  // The second cue: each head has dashes of its own.
  const DASHES = ["", "9 3", "4 3", "1.5 2.5", "12 3 2 3", "12 3 2 3 2 3", "6 2 1.5 2", "2 5"];
  const FAINTEST = 0.5 / 255; // less than the smallest weight that the bytes can say
  const MOST_LINES = 8000; // a browser stays quick; the weakest are left out, and the page says so

  const colour = (head) => COLOURS[head % COLOURS.length];
  const dash = (head) => DASHES[head % DASHES.length];

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = headway.FONT;
  const measure = (text) => pen.measureText(text).width;

  /** Cut a text that is too wide, and say so with an ellipsis. */
  function fit(text, width) {
    if (measure(text) <= width) return text;
    const letters = Array.from(text).slice(0, 200);
    while (letters.length > 1 && measure(letters.join("") + "…") > width) letters.pop();
    return letters.join("") + "…";
  }
  const widest = (labels, most) => Math.ceil(Math.min(most, Math.max(...labels.map(measure))));
  const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
  const hit = (x, y, width, height, data) => ({ rect: [x, y, width, height], opacity: 0, hit: true, data });

  /** Every line from a query to a key, or those of one token only; the strongest last, on top. */
  function links(map, layer, heads, spot) {
    const found = [];
    for (const head of heads)
      for (let query = 0; query < map.queries.length; query++) {
        if (spot?.query !== undefined && spot.query !== query) continue;
        for (let key = 0; key < map.keys.length; key++) {
          if (spot?.key !== undefined && spot.key !== key) continue;
          const weight = headway.weight(map, layer, head, query, key);
          if (weight >= FAINTEST) found.push({ query, key, head, weight });
        }
      }
    found.sort((a, b) => a.weight - b.weight);
    return { drawn: found.slice(-MOST_LINES), left: Math.max(0, found.length - MOST_LINES) };
  }

  /** The head view: queries beside keys, or above them as the paper prints it (Figures 3 to 5). */
  function heads(map, { layer, heads, spot, pin, width, paper }) {
    const [queries, keys] = [headway.shown(map.queries), headway.shown(map.keys)];
    const most = paper ? 150 : Math.min(170, width * 0.34);
    const [first, second] = [widest(queries, most), widest(keys, most)];
    const count = Math.max(queries.length, keys.length);
    const step = paper ? clamp((width - 20) / count, 19, 40) : 24;
    const gap = paper ? 240 : Math.min(440, width - first - second - 36);
    // Along: from token to token. Across: from queries to keys.
    const [start, end] = [first + 18, first + 18 + gap];
    const long = Math.max(step * count, paper ? width - 2 : 0) + 12;
    const shift = (n) => (paper ? (long - step * n) / 2 : 6);
    const along = {
      query: (i) => shift(queries.length) + step * (i + 0.5),
      key: (i) => shift(keys.length) + step * (i + 0.5),
    };
    const point = (a, across) => (paper ? [a, across] : [across, a]);
    const fan = Math.min(2, (step * 0.6) / Math.max(1, heads.length)); // heads lie side by side
    const { drawn, left } = links(map, layer, heads, spot);
    const items = drawn.map((link) => {
      const aside = (heads.indexOf(link.head) - (heads.length - 1) / 2) * fan;
      const from = point(along.query(link.query) + aside, start);
      const to = point(along.key(link.key) + aside, end);
      const { query, key, head, weight } = link;
      const looks = { stroke: colour(head), dash: dash(head), width: spot ? 2.2 : 1.6, opacity: weight };
      return { line: [...from, ...to], ...looks, data: { query, key, head } };
    });
    const box = (a, across, thick, length) =>
      paper ? [a - thick / 2, across, thick, length] : [across, a - thick / 2, length, thick];
    for (const link of spot ? drawn : []) { // behind the other side's tokens, a box for each head
      const other = spot.query !== undefined ? "key" : "query";
      const size = (other === "key" ? second : first) / heads.length;
      const at = (other === "key" ? end + 8 : start - 8 - first) + size * heads.indexOf(link.head);
      const place = box(along[other](link[other]), at, step - 5, size);
      items.push({ rect: place, fill: colour(link.head), opacity: link.weight * 0.7 });
    }
    const side = (name, labels) => {
      const before = name === "query"; // to the left of the lines or above them
      const space = before ? first : second;
      // Turned text runs upwards, away from the lines if they are below it.
      const anchor = before === Boolean(paper) ? "start" : "end";
      labels.forEach((label, i) => {
        const here = along[name](i);
        const [x, y] = point(here, before ? start - 8 : end + 8);
        const faded = spot?.[name] !== undefined && spot[name] !== i;
        if (pin?.[name] === i)
          items.push({ rect: box(here, before ? start - 5 : end + 1, step - 8, 4), fill: "currentColor" });
        const strong = spot?.[name] === i;
        const looks = { turn: paper, bold: strong, here: strong, opacity: faded ? 0.55 : 1 };
        items.push({ text: fit(label, space), x, y, anchor, ...looks });
        items.push(hit(...box(here, before ? 0 : end, step, space + 18), { [name]: i, label }));
      });
    };
    side("query", queries);
    side("key", keys);
    const across = end + second + 18;
    return { width: paper ? long : across, height: paper ? across : long, items, left };
  }

  /** Darkness of many cells in few shapes: a path for each level. Past `most` a side, cells are pooled. */
  function shades(map, layer, heads, [x, y, width, height], { fill, levels, most = Infinity }) {
    const [rows, columns] = [Math.min(most, map.queries.length), Math.min(most, map.keys.length)];
    const darkest = new Float32Array(rows * columns);
    map.queries.forEach((_, query) => {
      const row = Math.floor((query * rows) / map.queries.length) * columns;
      map.keys.forEach((_, key) => {
        const at = row + Math.floor((key * columns) / map.keys.length);
        darkest[at] = Math.max(darkest[at], headway.meanWeight(map, layer, heads, query, key));
      });
    });
    const [cellX, cellY] = [width / columns, height / rows];
    const box = `h${cellX.toFixed(2)}v${cellY.toFixed(2)}h${(-cellX).toFixed(2)}z`;
    const paths = new Map();
    darkest.forEach((weight, at) => {
      const shade = Math.round(weight * levels);
      const [left, top] = [x + (at % columns) * cellX, y + Math.floor(at / columns) * cellY];
      if (shade) paths.set(shade, `${paths.get(shade) ?? ""}M${left.toFixed(2)} ${top.toFixed(2)}${box}`);
    });
    return [...paths].map(([shade, path]) => ({ path, fill, opacity: shade / levels }));
  }

  const kept = new WeakMap();
  /** Make the shapes that do not follow the pointer, or give back those made for the same key. */
  function once(map, key, make) {
    const before = kept.get(map);
    if (before?.key === key) return before.items;
    const items = make();
    kept.set(map, { key, items });
    return items;
  }

  /** All heads of all layers as small heat maps. */
  function grid(map, { layer, heads, spot, width }) {
    const [margin, gap, items] = [26, 8, []];
    const cellX = clamp((width - margin) / map.heads - gap, 30, 120);
    const cellY = cellX * clamp(map.queries.length / map.keys.length, 0.6, 1.6);
    const [stepX, stepY] = [cellX + gap, cellY + gap];
    const title = { anchor: "middle", bold: true };
    const place = (row, head) => [margin + head * stepX, margin + row * stepY, cellX, cellY];
    const small = (row, head) =>
      shades(map, row, [head], place(row, head), { fill: colour(head), levels: 24, most: 48 });
    const numbers = (count) => Array.from({ length: count }, (_, i) => i);
    const under = once(map, `grid ${width}`, () =>
      numbers(map.layers).flatMap((row) => numbers(map.heads).flatMap((head) => small(row, head))));
    for (let head = 0; head < map.heads; head++)
      items.push({ text: `${head + 1}`, x: margin + head * stepX + cellX / 2, y: 10, ...title });
    for (let row = 0; row < map.layers; row++) {
      const y = margin + row * stepY;
      items.push({ text: `${row + 1}`, x: 8, y: y + cellY / 2, ...title });
      for (let head = 0; head < map.heads; head++) {
        const [x] = place(row, head);
        const here = spot?.layer === row && spot?.head === head;
        const chosen = row === layer && heads.includes(head);
        const stroke = here ? "currentColor" : colour(head);
        const label = `layer ${row + 1}, head ${head + 1}`;
        const edge = { stroke, width: here ? 3 : chosen ? 2 : 0.75, here };
        items.push({ rect: [x - 1, y - 1, cellX + 2, cellY + 2], ...edge });
        items.push(hit(x - gap / 2, y - gap / 2, stepX, stepY, { layer: row, head, label }));
      }
    }
    return { width: margin + map.heads * stepX, height: margin + map.layers * stepY, under, items };
  }

  /** One large heat map, of one head or of the mean of several. */
  function heat(map, { layer, heads, spot, pin, width }) {
    const [queries, keys, items] = [headway.shown(map.queries), headway.shown(map.keys), []];
    const [left, top] = [widest(queries, Math.min(150, width * 0.32)) + 10, widest(keys, 130) + 10];
    const cell = clamp((width - left - 4) / keys.length, 15, 36);
    const fill = heads.length === 1 ? colour(heads[0]) : "currentColor";
    const at = { ...pin, ...spot };
    const edge = { stroke: "currentColor", width: 0.5, opacity: 0.35 };
    const [right, bottom] = [cell * keys.length, cell * queries.length];
    const box = [left, top, right, bottom];
    const under = once(map, `heat ${layer} ${heads} ${width}`, () =>
      shades(map, layer, heads, box, { fill, levels: 255 }));
    items.push({ rect: box, ...edge });
    queries.forEach((label, query) => {
      const place = { x: left - 6, y: top + cell * (query + 0.5), anchor: "end" };
      const looks = { bold: at.query === query, here: spot?.query === query };
      items.push({ text: fit(label, left - 10), ...place, ...looks });
    });
    keys.forEach((label, key) => {
      const place = { x: left + cell * (key + 0.5), y: top - 6, anchor: "start", turn: true };
      items.push({ text: fit(label, top - 10), ...place, bold: at.key === key, here: spot?.key === key });
    });
    const frame = { stroke: "currentColor", width: 1, opacity: 0.6 };
    if (at.query !== undefined) items.push({ rect: [left, top + at.query * cell, right, cell], ...frame });
    if (at.key !== undefined) items.push({ rect: [left + at.key * cell, top, cell, bottom], ...frame });
    items.push(hit(...box, { rows: queries.length, columns: keys.length }));
    return { width: left + right + 4, height: top + bottom + 4, under, items };
  }

  /** The alignment line: under each query the keys it attends to most, with their weights as bars. */
  function alignment(map, { layer, heads, spot, pin, width }) {
    const [queries, keys, items] = [headway.shown(map.queries), headway.shown(map.keys), []];
    const [row, height] = [20, 96];
    let [x, y] = [0, 0];
    queries.forEach((label, query) => {
      const best = headway.strongest(map, layer, heads, query, 3);
      const text = Math.max(measure(label) * 1.1, ...best.map(([key]) => measure(keys[key])));
      const space = clamp(text + 14, 64, Math.min(190, width));
      if (x && x + space > width) [x, y] = [0, y + height];
      const here = spot?.query === query || pin?.query === query;
      items.push({ text: fit(label, space - 12), x: x + 6, y: y + 14, anchor: "start", bold: true });
      items.push({ rect: [x + 6, y + 25, space - 12, 1.5], fill: "currentColor", opacity: here ? 1 : 0.25, here });
      best.forEach(([key, weight], place) => {
        const middle = y + 40 + place * row;
        const bar = [x + 6, middle - 9, (space - 12) * weight, row - 3];
        items.push({ rect: bar, fill: COLOURS[0], opacity: 0.35 });
        const looks = { anchor: "start", opacity: clamp(0.4 + weight, 0.4, 1) };
        items.push({ text: fit(keys[key], space - 12), x: x + 6, y: middle, ...looks });
      });
      items.push(hit(x, y, space, height, { query, label }));
      x += space;
    });
    return { width, height: y + height, items };
  }

  const paper = (map, options) => heads(map, { ...options, paper: true });
  headway.scenes = { heads, paper, grid, heat, alignment };
  Object.assign(headway, { colour, dash });
})((globalThis.headway ??= {}));
