/**
 * Prints the figures as a table. A ratio is the cost of the library divided by that of the baseline, both in their best round.
 */

const UNITS = {
  'ops/s': { more: true, show: showRate },
  ms: { more: false, show: (value) => `${value.toFixed(1)} ms` },
  bytes: { more: false, show: (value) => `${Math.round(value).toLocaleString('en')} B` },
};

const HEADINGS = ['operation', 'median', 'best', 'best on core', 'bare on core', 'ratio', 'goal', 'verdict'];

/** The JSON of a row for `--json`. */
export function figures(row) {
  const { ours, bare, goal } = row;
  const { more } = UNITS[row.unit];
  const ratio = bare === undefined ? undefined : more ? top(bare) / top(ours) : top(ours) / top(bare);
  return { name: row.name, unit: row.unit, ours, bare, ratio, goal, verdict: verdict(row, more) };
}

/** The steadiest available figure. */
function top(side) {
  return side.onCore ?? side.best;
}

/** `met` by wall-clock time, `met on core` only by CPU time. */
function verdict({ ours, goal }, more) {
  if (goal === undefined) return undefined;
  const meets = (value) => (more ? value >= goal : value <= goal);
  if (meets(ours.best)) return 'met';
  return meets(top(ours)) ? 'met on core' : 'missed';
}

/** A Markdown table with one line per row. */
export function table(rows) {
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  const rule = widths.map((width, column) => (isText(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const print = (line) => `| ${line.map((cell, column) => pad(cell, widths[column], column)).join(' | ')} |`;
  return [print(HEADINGS), print(rule), ...lines.slice(1).map(print)].join('\n');
}

function cells(row) {
  const { name, unit, ours, bare, ratio, goal, verdict } = figures(row);
  const { more, show } = UNITS[unit];
  return [
    name,
    show(ours.median),
    show(ours.best),
    ours.onCore === undefined ? '' : show(ours.onCore),
    bare === undefined ? '' : show(top(bare)),
    ratio === undefined ? '' : showRatio(ratio),
    goal === undefined ? '' : `${more ? '>=' : '<='} ${show(goal)}`,
    verdict ?? '',
  ];
}

function isText(column) {
  return column === 0 || column === HEADINGS.length - 1;
}

function pad(text, width, column) {
  return isText(column) ? text.padEnd(width) : text.padStart(width);
}

function showRate(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M/s`;
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k/s`;
  return `${value.toFixed(0)} /s`;
}

function showRatio(ratio) {
  if (ratio < 0.1) return ratio.toFixed(3);
  return ratio.toFixed(ratio < 10 ? 1 : 0);
}
