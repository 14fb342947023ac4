/* The glossary of the page: a term in each line, and after "=" its translation; or rows of a table with tabs. */
(function (headway) {
  "use strict";

  /** Return the rows of a glossary as the server reads them; a line without a translation is left out. */
  function glossaryRows(text) {
    const rows = text.split("\n").map((line) => {
      if (line.includes("\t")) return line.trim() && line; // a copy of a table, which may have flags
      const term = /^\s*([^=]*[^=\s])\s*=\s*(\S.*?)\s*$/.exec(line);
      return term && `${term[1]}\t${term[2]}`;
    });
    return rows.filter(Boolean).join("\n");
  }

  Object.assign(headway, { glossaryRows });
})((globalThis.headway ??= {}));
