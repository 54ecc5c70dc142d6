/**
 * Metric families: their series, one for each combination of label values, and the Prometheus text format, version 0.0.4.
 * The number of series is limited, because label values may come from clients.
 */
import { compareTexts } from '../util/order.js';

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** The label value of the series that collects everything beyond the limit. */
export const OVERFLOW = 'unexpected';

export interface FamilyOptions {
  readonly name: string;
  readonly labels: readonly string[];
  /** The maximum number of series, not counting the overflow series. */
  readonly limit: number;
  /** False: the metric is not printed and nothing is recorded. */
  readonly isShown: boolean;
  /** Called on the first recording. */
  readonly onFirstUse?: () => void;
  /** Called when a recording exceeds the limit. */
  readonly onOverflow: () => void;
}

interface Series {
  samples(labels: Sample['labels']): Sample[];
}

export class Family<Label extends string, Value extends Series> {
  readonly #options: FamilyOptions;
  readonly #make: () => Value;
  readonly #series = new Map<string, { readonly labels: Sample['labels']; readonly value: Value }>();
  /** In printing order. */
  readonly #labels: readonly string[];
  #isUsed = false;
  readonly #discarded: Value;

  constructor(options: FamilyOptions, make: () => Value) {
    this.#options = options;
    this.#make = make;
    this.#labels = [...options.labels].sort();
    this.#discarded = make();
    // A metric without labels has one series from the start.
    if (options.labels.length === 0 && options.isShown) this.#add([]);
  }

  /** The series with these labels. It never changes, so callers may keep it to skip the lookup. */
  with(labels: Labels<Label>): Value {
    if (!this.#options.isShown) return this.#discarded;
    if (!this.#isUsed) {
      this.#isUsed = true;
      this.#options.onFirstUse?.();
    }
    const values = this.#labels.map((label) => wellFormed((labels as Readonly<Record<string, string>>)[label] ?? ''));
    const series = this.#series.get(keyOf(values));
    if (series !== undefined) return series.value;
    if (this.#series.size < this.#options.limit) return this.#add(values);
    this.#options.onOverflow();
    const rest = this.#labels.map(() => OVERFLOW);
    return this.#series.get(keyOf(rest))?.value ?? this.#add(rest);
  }

  /** All samples, sorted by label values. */
  samples(): Sample[] {
    return [...this.#series.values()]
      .sort((left, right) => compareTexts(valuesOf(left.labels), valuesOf(right.labels)))
      .flatMap(({ labels, value }) => value.samples(labels));
  }

  #add(values: readonly string[]): Value {
    const value = this.#make();
    const labels = this.#labels.map((label, index) => [label, values[index] ?? ''] as const);
    this.#series.set(keyOf(values), { labels, value });
    return value;
  }
}

/** Lone surrogates are replaced, because they are encoded alike and series must differ. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** Length prefixes make the key unambiguous. */
function keyOf(values: readonly string[]): string {
  return values.map((value) => `${value.length}:${value}`).join('');
}

function valuesOf(labels: Sample['labels']): readonly string[] {
  return labels.map(([, value]) => value);
}

/** Only increases. */
export class Counter implements Series {
  #value = 0;

  add(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`orchplane: a counter cannot decrease, but got ${by}`);
    this.#value += by;
  }

  samples(labels: Sample['labels']): Sample[] {
    return [{ labels, value: this.#value }];
  }
}

export class Gauge implements Series {
  #value = 0;

  set(value: number): void {
    this.#value = value;
  }

  add(by: number): void {
    this.#value += by;
  }

  samples(labels: Sample['labels']): Sample[] {
    return [{ labels, value: this.#value }];
  }
}

/** Counts values up to each bound. Bounds are ascending. */
export class Histogram implements Series {
  readonly #bounds: readonly number[];
  /** Counts per bucket, not cumulative; one more than there are bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    // Not `value > bound`: NaN belongs to the last bucket.
    while (bucket < this.#bounds.length && !(value <= (this.#bounds[bucket] ?? 0))) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  samples(labels: Sample['labels']): Sample[] {
    let total = 0;
    const buckets = this.#counts.map((count, index): Sample => {
      total += count;
      const bound = this.#bounds[index] ?? Number.POSITIVE_INFINITY;
      return { suffix: '_bucket', labels: [...labels, ['le', printNumber(bound)]], value: total };
    });
    return [...buckets, { suffix: '_sum', labels, value: this.#sum }, { suffix: '_count', labels, value: total }];
  }
}

/** Bounds that grow by a factor. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** One line: suffix of the family name, ordered labels and value. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** A family without samples is not printed. */
export function printFamily(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: MetricType },
  samples: readonly Sample[],
): string {
  if (samples.length === 0) return '';
  let text = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  for (const { suffix = '', labels, value } of samples) {
    const inBraces = labels.map(([label, is]) => `${label}="${escapeValue(is)}"`).join(',');
    text += `${name}${suffix}${inBraces === '' ? '' : `{${inBraces}}`} ${printNumber(value)}\n`;
  }
  return text;
}

const HELP_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n' };
const VALUE_ESCAPES: Readonly<Record<string, string>> = { ...HELP_ESCAPES, '"': '\\"' };

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => HELP_ESCAPES[character] ?? character);
}

/** Label values are untrusted: they must not end the label or the line. */
function escapeValue(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => VALUE_ESCAPES[character] ?? character);
}

/** The shortest digits that round-trip; with an exponent from 1e6 and below 1e-4, like Go's %g. */
export function printNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
}
