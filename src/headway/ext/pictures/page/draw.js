/* Draw a view of attention as SVG. All places come from the layout, all colors from headway.style.
 * Text goes through textContent and attributes, never through markup. */
(function (headway) {
  "use strict";

  const FAMILY = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
  const MOST_LINKS = 8000; // The browser stays quick; the faintest links are left out.
  const CELL_SHADES = 255;
  const style = headway.style ?? {};
  const look = (head) => style.heads[head % style.heads.length];

  function element(name, attributes, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined && value !== "") made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  const line = (from, to, head, hasDashes, rest) =>
    element("line", {
      x1: from[0].toFixed(2), y1: from[1].toFixed(2), x2: to[0].toFixed(2), y2: to[1].toFixed(2),
      stroke: look(head).color, "stroke-dasharray": hasDashes ? look(head).dash.join(" ") : "", ...rest,
    });
  const rect = ([x, y, width, height], rest, ...children) =>
    element("rect", { x, y, width, height, fill: "none", ...rest }, ...children);
  const text = (words, x, y, { anchor, size, bold, opacity, turned, name }) =>
    element("text", {
      x, y, "text-anchor": anchor, "font-size": size, "font-weight": bold ? "bold" : "",
      "fill-opacity": opacity, transform: turned ? `rotate(-90 ${x} ${y})` : "", class: name,
      "dominant-baseline": "central", fill: "currentColor",
    }, words);
  /** Make a rectangle that the pointer can hit; data says what it stands for. */
  function target(area, data, title) {
    const names = Object.entries(data).map(([key, value]) => [`data-${key}`, value]);
    const children = title ? [element("title", {}, title)] : [];
    return rect(area, { class: "hit", fill: "currentColor", "fill-opacity": 0, ...Object.fromEntries(names) }, ...children);
  }

  /** List the links that the rule of the layout draws for what the reader chose, the strongest last.
   * choose_links in links.py does the same for files; test_page_drawing.py compares both. */
  function listLinks(map, { links: rule }, { layer, heads, spot }) {
    const found = [];
    if (!rule) return found;
    const groups = rule.is_mean ? [heads] : heads.map((head) => [head]);
    map.queries.forEach((_, query) => {
      if ((spot?.query ?? query) !== query) return;
      for (const group of groups) {
        const head = rule.is_mean ? undefined : group[0];
        const row = [];
        map.keys.forEach((_, key) => {
          const weight = headway.meanWeight(map, layer, group, query, key);
          if (weight >= rule.least) row.push({ query, key, head, weight });
        });
        if (rule.most) row.sort((a, b) => b.weight - a.weight).splice(rule.most);
        for (const link of row) if ((spot?.key ?? link.key) === link.key) found.push(link);
      }
    });
    return found.sort((a, b) => a.weight - b.weight);
  }

  function drawLinks(layout, links, { heads }) {
    return links.map(({ query, key, head, weight }) => {
      const [dx, dy] = layout.fan[head ?? 0];
      const [from, to] = [layout.queries.ports[query], layout.keys.ports[key]]
        .map(([x, y]) => [x + dx, y + dy]);
      return line(from, to, head ?? 0, heads.length > 1, {
        "stroke-width": layout.links.width, "stroke-opacity": weight.toFixed(3),
        "data-query": query, "data-key": key, "data-head": head,
      });
    });
  }

  /** Draw a box for each link of the token under the pointer, behind the token on the other side.
   * head_box in links.py does the same for files. */
  function drawHeadBoxes(layout, links, { heads, spot }) {
    if (!spot) return [];
    const name = spot.query !== undefined ? "key" : "query";
    const side = name === "key" ? layout.keys : layout.queries;
    return links.map((link) => {
      const [x, y, width, height] = side.areas[link[name]];
      const [place, count] = link.head === undefined ? [0, 1] : [heads.indexOf(link.head), heads.length];
      const area = side.labels[0].is_turned
        ? [x, y + (height * place) / count, width, height / count]
        : [x + (width * place) / count, y, width / count, height];
      return rect(area, { fill: look(link.head ?? 0).color, "fill-opacity": (link.weight * style.boxOpacity).toFixed(3), class: "head-box" });
    });
  }

  /** Draw the cells of one map: one path for each shade. Maps of very many tokens are thinned. */
  function drawCells(map, layer, heads, [x, y, width, height]) {
    const rows = Math.min(map.queries.length, Math.ceil(height));
    const columns = Math.min(map.keys.length, Math.ceil(width));
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
      if (weight < style.faintest) return;
      const shade = Math.round(weight * CELL_SHADES);
      const [left, top] = [x + (at % columns) * cellX, y + Math.floor(at / columns) * cellY];
      paths.set(shade, `${paths.get(shade) ?? ""}M${left.toFixed(2)} ${top.toFixed(2)}${box}`);
    });
    const fill = heads.length === 1 ? look(heads[0]).color : "currentColor";
    return [...paths].map(([shade, d]) => element("path", { d, fill, "fill-opacity": (shade / CELL_SHADES).toFixed(3) }));
  }

  const drawn = new WeakMap(); // The cells of a map do not change while the pointer moves.
  function cellsOf(map, layout, { view, layer, heads }) {
    const key = `${view} ${layer} ${heads}`;
    if (view === "grid" ? drawn.get(map)?.key.startsWith("grid") : drawn.get(map)?.key === key)
      return drawn.get(map).cells;
    const cells = layout.maps.flatMap((place) =>
      drawCells(map, place.layer ?? layer, place.head === null ? heads : [place.head], place.area));
    drawn.set(map, { key, cells });
    return cells;
  }

  /** Draw the frames around what is chosen or pointed at in a grid or a heat map. */
  function drawFrames(map, layout, { view, layer, heads, spot, pin }) {
    const frame = (area, width, here) =>
      rect(area, { stroke: "currentColor", "stroke-width": width, class: here ? "here" : "" });
    if (view === "grid")
      return layout.maps.flatMap((place) => {
        const here = spot?.layer === place.layer && spot?.head === place.head;
        const chosen = place.layer === layer && heads.includes(place.head);
        return here || chosen ? [frame(place.area, here ? 3 : 1.5, here)] : [];
      });
    if (view !== "heat") return [];
    const [x, y, width, height] = layout.maps[0].area;
    const [cellX, cellY] = [width / map.keys.length, height / map.queries.length];
    const at = { ...pin, ...spot };
    return [
      ...(at.query === undefined ? [] : [frame([x, y + at.query * cellY, width, cellY], 1, spot)]),
      ...(at.key === undefined ? [] : [frame([x + at.key * cellX, y, cellX, height], 1, spot)]),
    ];
  }

  function drawSide(side, name, labels, { spot, pin }) {
    return side.labels.flatMap(({ text: words, x, y, anchor, size, is_turned: turned }, number) => {
      const here = spot?.[name] === number;
      const isPinned = pin?.[name] === number;
      const faded = spot?.[name] !== undefined && !here;
      const made = [text(words, x, y, {
        anchor, size, turned, bold: here || isPinned, opacity: faded ? 0.55 : undefined, name: here ? "here" : name,
      })];
      if (side.areas.length) made.push(target(side.areas[number], { [name]: number }, labels[number]));
      return made;
    });
  }

  function drawTargets(map, layout, view) {
    if (view === "grid")
      return layout.maps.map(({ area, layer, head }) =>
        target(area, { layer, head }, `layer ${layer + 1}, head ${head + 1}`));
    if (view !== "heat") return [];
    return [target(layout.maps[0].area, { rows: map.queries.length, columns: map.keys.length })];
  }

  /** Draw a view: state is {view, layer, heads, pin, spot}; returns {svg, omitted}, where omitted counts the links that are not drawn. */
  function draw(map, state, label) {
    const layout = map.layouts[state.view];
    const all = listLinks(map, layout, state);
    const links = all.slice(-MOST_LINKS);
    const margin = 6;
    const [width, height] = [Math.ceil(layout.width) + 2 * margin, Math.ceil(layout.height) + 2 * margin];
    const svg = element("svg", {
      width, height, viewBox: `${-margin} ${-margin} ${width} ${height}`,
      "font-family": FAMILY, role: "img", "aria-label": label,
    });
    for (const { area, fill, opacity, outline, radius } of layout.boxes)
      svg.append(rect(area, { fill: fill || "none", "fill-opacity": opacity, stroke: outline, rx: radius || "" }));
    svg.append(...drawHeadBoxes(layout, links, state));
    svg.append(...cellsOf(map, layout, state));
    svg.append(...drawLinks(layout, links, state));
    for (const { text: words, x, y, anchor, size, is_bold, is_pale, role } of layout.labels)
      svg.append(text(words, x, y, { anchor, size, bold: is_bold, opacity: is_pale ? 0.65 : undefined, name: role }));
    if (layout.queries) svg.append(...drawSide(layout.queries, "query", map.queries, state));
    if (layout.keys) svg.append(...drawSide(layout.keys, "key", map.keys, state));
    svg.append(...drawFrames(map, layout, state), ...drawTargets(map, layout, state.view));
    return { svg, omitted: all.length - links.length };
  }

  /** Return a drawn view as the text of an SVG file: dark on white, without what only a pointer needs. */
  function svgFile(svg, label) {
    const copy = svg.cloneNode(true);
    copy.setAttribute("color", style.ink);
    for (const hit of copy.querySelectorAll(".hit")) hit.remove();
    const [x, y, width, height] = svg.getAttribute("viewBox").split(" ");
    copy.setAttribute("width", width); // The page may show it smaller.
    copy.setAttribute("height", height);
    copy.prepend(element("title", {}, label), rect([x, y, width, height], { fill: style.paper }));
    return new XMLSerializer().serializeToString(copy);
  }

  /** Return a drawn view as a PNG. */
  async function pngFile(svg, label) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(svgFile(svg, label))}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 8192 / image.width, 8192 / image.height); // Browsers limit the size.
    [canvas.width, canvas.height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  /** Draw the color and the dashes of a head, for its button. */
  function sample(head) {
    const made = line([0, 3], [26, 3], head, true, { "stroke-width": 3 });
    return element("svg", { width: 26, height: 6, viewBox: "0 0 26 6", "aria-hidden": "true" }, made);
  }

  Object.assign(headway, { draw, svgFile, pngFile, sample });
})((globalThis.headway ??= {}));
