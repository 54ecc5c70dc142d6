/**
 * The part of docs/fidelity.md that is made from figures.json: how it is marked, and what it looks like.
 */

const BEGIN = '<!-- made by npm run fidelity: begin -->';
const END = '<!-- made by npm run fidelity: end -->';

/** In the order in which they are shown, with what the areas of the recordings are about. */
const TITLES = {
  crud: 'create, read, update',
  list: 'list',
  watch: 'watch',
  delete: 'delete',
  patch: 'patch',
  apply: 'apply',
  crd: 'custom kinds and CEL',
  kinds: 'built-in kinds',
  http: 'HTTP: paths, encodings, discovery, tables',
  auth: 'authentication, RBAC, reviews, tokens',
  admission: 'admission: plugins, policies, quotas',
  lifecycle: 'with controllers: what becomes of objects',
};

/** The text between the marks; undefined where they are not there, once each and in order. */
export function sectionOf(text) {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  const once = text.lastIndexOf(BEGIN) === start && text.lastIndexOf(END) === end;
  return start < 0 || end < start || !once ? undefined : text.slice(start + BEGIN.length, end);
}

/** The document with the section of these figures. */
export function withSection(text, figures) {
  const section = sectionOf(text);
  if (section === undefined) throw new Error(`the document needs the lines "${BEGIN}" and "${END}", once each`);
  return text.replace(`${BEGIN}${section}${END}`, () => `${BEGIN}\n\n${table(figures)}\n\n${END}`);
}

export function table(figures) {
  const unknown = Object.keys(figures).filter((area) => !(area in TITLES));
  if (unknown.length > 0) throw new Error(`areas without a title: ${unknown.join(', ')}`);
  const rows = Object.keys(TITLES)
    .filter((area) => area in figures)
    .map((area) => row(TITLES[area], figures[area]));
  return [
    '| area | exchanges | alike | % | but descriptions of columns | % | alike in the dialect `orch` | % |',
    '|---|--:|--:|--:|--:|--:|--:|--:|',
    ...rows,
    row('**all**', total(Object.values(figures))),
  ].join('\n');
}

function row(title, { steps, kubernetes, orch }) {
  const share = (alike) => `${thousands(alike)} | ${percent(alike, steps)}`;
  const cells = [share(kubernetes.alike), share(kubernetes.butDescriptions), share(orch.alike)];
  return `| ${title} | ${thousands(steps)} | ${cells.join(' | ')} |`;
}

function total(areas) {
  const sum = (pick) => areas.reduce((all, area) => all + pick(area), 0);
  const dialect = (name) => ({
    alike: sum((area) => area[name].alike),
    butDescriptions: sum((area) => area[name].butDescriptions),
  });
  return { steps: sum(({ steps }) => steps), kubernetes: dialect('kubernetes'), orch: dialect('orch') };
}

/** Rounded down, so that 100 means all. */
export function percent(part, whole) {
  return (Math.floor((1000 * part) / whole) / 10).toFixed(1);
}

function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
