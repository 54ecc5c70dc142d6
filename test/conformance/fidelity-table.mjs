/** Writes the table of docs/fidelity.md from the figures of a replay, between two marks. */

const BEGIN = '<!-- made by npm run fidelity: begin -->';
const END = '<!-- made by npm run fidelity: end -->';

/** The areas of the recordings in the order of the rows, with their titles. */
const TITLES = {
  crud: 'create, read, update',
  list: 'list',
  watch: 'watch',
  delete: 'delete',
  patch: 'patch',
  apply: 'apply',
  crd: 'custom resources and CEL',
  kinds: 'built-in kinds',
  http: 'HTTP: paths, encodings, discovery, tables',
  auth: 'authentication, RBAC, reviews, tokens',
  admission: 'admission: plugins, policies, quotas',
  lifecycle: 'controllers',
};

/** The text between the marks; undefined unless each mark occurs once, in order. */
export function sectionOf(text) {
  const [start, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  const once = text.lastIndexOf(BEGIN) === start && text.lastIndexOf(END) === end;
  return start < 0 || end < start || !once ? undefined : text.slice(start + BEGIN.length, end);
}

/** The document with the table of these figures between its marks. */
export function withSection(text, figures) {
  const section = sectionOf(text);
  if (section === undefined) throw new Error(`the document must contain the lines "${BEGIN}" and "${END}", once each`);
  return text.replace(`${BEGIN}${section}${END}`, () => `${BEGIN}\n\n${table(figures)}\n\n${END}`);
}

/** The table as Markdown: a row per area and one for all. */
export function table(figures) {
  const unknown = Object.keys(figures).filter((area) => !(area in TITLES));
  if (unknown.length > 0) throw new Error(`areas without a title: ${unknown.join(', ')}`);
  const rows = Object.keys(TITLES)
    .filter((area) => area in figures)
    .map((area) => row(TITLES[area], figures[area]));
  return [
    '| area | responses | identical | % | `orch`: identical | `orch`: as specified | both, % |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...rows,
    row('**all**', total(Object.values(figures))),
  ].join('\n');
}

function row(title, { steps, kubernetes, orch }) {
  const { identical, specified } = orch;
  const reference = `${thousands(kubernetes.identical)} | ${percent(kubernetes.identical, steps)}`;
  const cells = `${thousands(identical)} | ${thousands(specified)} | ${percent(identical + specified, steps)}`;
  return `| ${title} | ${thousands(steps)} | ${reference} | ${cells} |`;
}

function total(areas) {
  const sum = (pick) => areas.reduce((all, area) => all + pick(area), 0);
  const dialect = (name) => ({
    identical: sum((area) => area[name].identical),
    specified: sum((area) => area[name].specified),
  });
  return { steps: sum(({ steps }) => steps), kubernetes: dialect('kubernetes'), orch: dialect('orch') };
}

/** The percentage, rounded down: 100.0 means all. */
export function percent(part, whole) {
  return (Math.floor((1000 * part) / whole) / 10).toFixed(1);
}

function thousands(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
