/* The view as the fragment of the page's address: a link shares it, and browsers send it to no server. */
(function (headway) {
  "use strict";

  const given = () => new URLSearchParams(location.hash.slice(1));

  /** Set names in the fragment and leave the others; null removes a name. */
  function setFragment(values) {
    const names = given();
    for (const [name, value] of Object.entries(values))
      value === null ? names.delete(name) : names.set(name, value);
    try {
      history.replaceState(history.state, "", `#${names}`);
    } catch { /* the frame of a notebook has no address */ }
  }

  /** Read the state of the attention view, counted from 0; ignore kinds and views that do not exist. */
  function readState(kinds, views) {
    const names = given();
    const found = {};
    const [kind, view] = [names.get("kind") ?? "", names.get("view") ?? ""];
    if (Object.hasOwn(kinds, kind)) found.kind = kind;
    if (Object.hasOwn(views, view)) found.view = view;
    if (names.has("layer")) found.layer = Number(names.get("layer")) - 1;
    if (names.has("heads")) found.heads = names.get("heads").split(/\D/).map((head) => Number(head) - 1);
    if (names.has("words")) found.words = names.get("words") === "1";
    const pin = /^([qk])([1-9]\d{0,3})$/.exec(names.get("pin") ?? "");
    if (pin) found.pin = { [pin[1] === "q" ? "query" : "key"]: Number(pin[2]) - 1 };
    return found;
  }

  /** Write the state of the attention view, counted from 1. */
  function keepState({ kind, view, layer, heads, words, pin }, count) {
    setFragment({
      kind,
      view,
      layer: layer + 1,
      heads: heads.length === count ? null : heads.map((head) => head + 1).join("."),
      words: words ? 1 : null,
      pin: !pin ? null : pin.query !== undefined ? `q${pin.query + 1}` : `k${pin.key + 1}`,
    });
  }

  Object.assign(headway, { setFragment, readState, keepState });
})((globalThis.headway ??= {}));
