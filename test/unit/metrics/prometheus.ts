/**
 * A parser of the Prometheus text format, written from its specification.
 */
export interface ReadFamily {
  readonly help: string;
  readonly type: string;
  readonly samples: { readonly name: string; readonly labels: ReadonlyMap<string, string>; readonly value: number }[];
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;

/** Throws for an invalid line, a sample outside of its family, or a duplicate series. */
export function readPrometheus(text: string): Map<string, ReadFamily> {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, ReadFamily>();
  const seen = new Set<string>();
  let name = '';
  let help: string | undefined;
  for (const line of text.split('\n').slice(0, -1)) {
    const [, keyword, metricName = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/s.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(metricName)) throw new Error(`${metricName} comes twice`);
      [name, help] = [metricName, unescaped(rest)];
      continue;
    }
    if (keyword === 'TYPE') {
      if (metricName !== name || help === undefined) throw new Error(`${metricName} has no help`);
      families.set(name, { help, type: rest, samples: [] });
      continue;
    }
    const [, sample = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    const family = families.get(name);
    if (family === undefined || !belongs(sample, name, family.type)) throw new Error(`invalid line ${line}`);
    const id = `${sample}{${labels}}`;
    if (seen.has(id)) throw new Error(`${id} is there twice`);
    seen.add(id);
    family.samples.push({ name: sample, labels: readLabels(labels), value: readNumber(value) });
  }
  return families;
}

/** The value of a series by its labels; undefined if it does not exist. */
export function valueIn(
  families: ReadonlyMap<string, ReadFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''));
  return family?.samples.find(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels.get(label) === value),
  )?.value;
}

function belongs(sample: string, family: string, type: string): boolean {
  if (type !== 'histogram') return sample === family;
  return ['_bucket', '_sum', '_count'].some((suffix) => sample === family + suffix);
}

function readLabels(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  let rest = text;
  while (rest !== '') {
    const [whole, name, value] = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,(?=.)|$)/s.exec(rest) ?? [];
    if (whole === undefined || name === undefined || value === undefined) throw new Error(`invalid labels ${text}`);
    if (labels.has(name)) throw new Error(`label ${name} comes twice`);
    labels.set(name, unescaped(value));
    rest = rest.slice(whole.length);
  }
  return labels;
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => (character === 'n' ? '\n' : character));
}

function readNumber(text: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (!/^-?\d+(\.\d+)?(e[+-]\d\d+)?$/.test(text)) throw new Error(`invalid number ${text}`);
  return Number(text);
}
