/* The glossary of the page: a term in each line, and after "=" or a tab its translation. */
(function (headway) {
  "use strict";

  /** Return the rows of a glossary as the server reads them; a line without a translation is left out. */
  function glossaryRows(text) {
    const rows = text.split("\n").map((line) => /^\s*([^=\t]*[^=\t\s])\s*[=\t]\s*(\S.*?)\s*$/.exec(line));
    return rows.filter(Boolean).map(([, source, target]) => `${source}\t${target}`).join("\n");
  }

  Object.assign(headway, { glossaryRows });
})((globalThis.headway ??= {}));
