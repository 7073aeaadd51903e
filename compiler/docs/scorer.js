// How the search of the site ranks: whoever types the whole name of a code, a command or a chapter wants just that.
// All other values are those of Sphinx.
var Scorer = {
  score: ([, , , , score, , kind]) => (kind === "title" ? score + 1000 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
