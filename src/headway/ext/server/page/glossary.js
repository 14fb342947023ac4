/* The glossary of the page: a term in each line, and after "=" its translation; or rows of a table with tabs. */
(function (headway) {
  "use strict";

  /** Return the rows of a glossary as the server reads them. A line that is no term is an error, which names it:
   * ":" and "," may stand in a term, so that they separate nothing. */
  function glossaryRows(text) {
    const rows = text.split("\n").map((line, i) => {
      if (line.includes("\t")) return line.trim() && line; // a copy of a table, which may have flags
      const term = /^\s*([^=]*[^=\s])\s*=\s*(\S.*?)\s*$/.exec(line);
      if (term) return `${term[1]}\t${term[2]}`;
      const start = line.trim().slice(0, 40);
      if (!start || start.startsWith("#")) return ""; // a comment
      throw new Error(`Line ${i + 1} of the glossary, “${start}”, must have a term, “=” and a translation.`);
    });
    return rows.filter(Boolean).join("\n");
  }

  Object.assign(headway, { glossaryRows });
})((globalThis.headway ??= {}));
