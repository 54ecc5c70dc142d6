/**
 * A metric and its series: one for each combination of label values that was met. There is a bound to how many, because
 * what labels say may come from clients.
 */

/**
 * Metrics as Prometheus reads them: the text format, version 0.0.4.
 */

export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const HELP_ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n' };

const VALUE_ESCAPES: Readonly<Record<string, string>> = { ...HELP_ESCAPES, '"': '\\"' };

export type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** What every label of the series says that takes the place of those that are too many. */
export const OVERFLOW = 'unexpected';

export interface FamilyOptions {
  readonly name: string;
  readonly labels: readonly string[];
  /** How many series there may be beside the one for the rest. */
  readonly limit: number;
  /** False: nobody will see it, and nothing is kept. */
  readonly isShown: boolean;
  /** Called when something is recorded for the first time. */
  readonly onFirstUse?: () => void;
  /** Called when something was recorded for which there was no room. */
  readonly onOverflow: () => void;
}

interface Series {
  samples(labels: Sample['labels']): Sample[];
}

export class Family<Label extends string, Value extends Series> {
  readonly #options: FamilyOptions;
  readonly #make: () => Value;
  readonly #series = new Map<string, { readonly labels: Sample['labels']; readonly value: Value }>();
  /** In the order in which they are shown. */
  readonly #labels: readonly string[];
  #isUsed = false;
  readonly #unseen: Value;

  constructor(options: FamilyOptions, make: () => Value) {
    this.#options = options;
    this.#make = make;
    this.#labels = [...options.labels].sort();
    this.#unseen = make();
    // Without labels there is one series, and it is there from the start.
    if (options.labels.length === 0 && options.isShown) this.#add([]);
  }

  /** The series of these labels; it stays the same, so it may be kept and recorded to without looking it up again. */
  with(labels: Labels<Label>): Value {
    if (!this.#options.isShown) return this.#unseen;
    if (!this.#isUsed) {
      this.#isUsed = true;
      this.#options.onFirstUse?.();
    }
    const values = this.#labels.map((label) => wellFormed((labels as Readonly<Record<string, string>>)[label] ?? ''));
    const known = this.#series.get(keyOf(values));
    if (known !== undefined) return known.value;
    if (this.#series.size < this.#options.limit) return this.#add(values);
    this.#options.onOverflow();
    const rest = this.#labels.map(() => OVERFLOW);
    return this.#series.get(keyOf(rest))?.value ?? this.#add(rest);
  }

  /** Every line, in the order of the labels' values. */
  samples(): Sample[] {
    return [...this.#series.values()]
      .sort((left, right) => compareValues(left.labels, right.labels))
      .flatMap(({ labels, value }) => value.samples(labels));
  }

  #add(values: readonly string[]): Value {
    const value = this.#make();
    const labels = this.#labels.map((label, index) => [label, values[index] ?? ''] as const);
    this.#series.set(keyOf(values), { labels, value });
    return value;
  }
}

/** Halves of surrogate pairs all look the same once they are bytes, and two series must not. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** With its length in front, no value can be taken for two. */
function keyOf(values: readonly string[]): string {
  return values.map((value) => `${value.length}:${value}`).join('');
}

function compareValues(left: Sample['labels'], right: Sample['labels']): number {
  for (const [index, [, value]] of left.entries()) {
    const other = right[index]?.[1] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Only grows. */
export class Counter implements Series {
  #value = 0;

  add(by = 1): void {
    if (!(by >= 0)) throw new RangeError(`orchplane: a counter only grows, not by ${by}`);
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

/** How many values there were up to each bound. Bounds rise. */
export class Histogram implements Series {
  readonly #bounds: readonly number[];
  /** By bucket, each without those before it; one more than there are bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    // Not `value > bound`: what is no number is beyond all bounds.
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

/** Bounds that rise by a factor. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}

export type MetricType = 'counter' | 'gauge' | 'histogram';

/** One line: what stands behind the name of its family, its labels in their order, and its value. */
export interface Sample {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: number;
}

/** A family of which there is nothing to show is not shown at all. */
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

function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (character) => HELP_ESCAPES[character] ?? character);
}

/** A label may come from outside: nothing in it may end the label, or the line. */
function escapeValue(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => VALUE_ESCAPES[character] ?? character);
}

/** The fewest digits that still give the number; with an exponent from a million on, and below a ten-thousandth. */
export function printNumber(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(value);
  const [digits = '', power = ''] = value.toExponential().split('e');
  return `${digits}e${power.charAt(0)}${power.slice(1).padStart(2, '0')}`;
}
