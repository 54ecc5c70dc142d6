/**
 * All metrics of a server: what each promises, which of them are shown in this release, and the page that shows them.
 * spec: Deprecation rules 9
 */
import { compareReleases, parseRelease, REFERENCE_RELEASE, type Release } from '../kinds/lifecycle.js';
import { invariant } from '../util/invariant.js';
import {
  Counter,
  Family,
  type FamilyOptions,
  Gauge,
  Histogram,
  type Labels,
  type MetricType,
  printFamily,
  type Sample,
} from './family.js';

/** How long a metric is promised to stay: ALPHA not at all. */
export type Stability = 'ALPHA' | 'BETA' | 'STABLE';

export interface MetricOptions<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly stability: Stability;
  readonly labels?: readonly Label[];
  /** The release since which there is something better. Shown for three releases, hidden in the next, then gone. */
  readonly deprecatedVersion?: Release;
}

export interface RegistryOptions {
  /** Which release is played. */
  readonly release?: Release | undefined;
  /** The release before this one: shows once more what it showed and this one hides. */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /** Told when a deprecated metric is recorded for the first time. */
  readonly onDeprecated?: ((message: string) => void) | undefined;
  /** How many series a metric may have; 5000 unless said otherwise. */
  readonly seriesLimit?: number | undefined;
}

/** Reads what somebody else keeps, when the page is printed. */
export type ReadValues<Label extends string> = () => Iterable<readonly [labels: Labels<Label>, value: number]>;

const DEFAULT_SERIES_LIMIT = 5000;
/** For how many releases a deprecated metric is still shown. */
const RELEASES_SHOWN = 3;

type Standing = 'shown' | 'deprecated' | 'hidden' | 'gone';

interface Registered {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: () => Sample[];
}

export class MetricsRegistry {
  readonly release: Release;
  readonly #showsHidden: boolean;
  readonly #onDeprecated: (message: string) => void;
  readonly #seriesLimit: number;
  readonly #registered = new Map<string, Registered>();
  readonly #names = new Set<string>();
  readonly #overflow: Counter;

  /** Throws TypeError for a release whose hidden metrics cannot be shown. */
  constructor(options: RegistryOptions = {}) {
    this.release = options.release ?? REFERENCE_RELEASE;
    this.#showsHidden = showsHidden(this.release, options.showHiddenMetricsForVersion);
    this.#onDeprecated = options.onDeprecated ?? (() => undefined);
    this.#seriesLimit = options.seriesLimit ?? DEFAULT_SERIES_LIMIT;
    this.#overflow = this.counter({
      name: 'cardinality_enforcement_unexpected_categorizations_total',
      help: 'What was recorded under the label "unexpected" because its metric had no room for more labels.',
      stability: 'ALPHA',
    }).with({});
  }

  counter<const Label extends string = never>(options: MetricOptions<Label>): Family<Label, Counter> {
    return this.#family(options, 'counter', () => new Counter());
  }

  gauge<const Label extends string = never>(options: MetricOptions<Label>): Family<Label, Gauge> {
    return this.#family(options, 'gauge', () => new Gauge());
  }

  histogram<const Label extends string = never>(
    options: MetricOptions<Label> & { readonly buckets: readonly number[] },
  ): Family<Label, Histogram> {
    return this.#family(options, 'histogram', () => new Histogram(options.buckets));
  }

  /** A metric whose values are kept elsewhere. */
  collect<const Label extends string = never>(
    options: MetricOptions<Label> & { readonly type: 'counter' | 'gauge' },
    read: ReadValues<Label>,
  ): void {
    const about = this.#familyOptions(options);
    const { labels: _labels, onFirstUse = () => undefined, ...rest } = about;
    const tellOnce = once(onFirstUse);
    this.#register(options, options.type, () => {
      const family = new Family<Label, Gauge>(
        { ...rest, labels: options.labels ?? [], onFirstUse: tellOnce },
        () => new Gauge(),
      );
      for (const [labels, value] of read()) family.with(labels).add(value);
      return family.samples();
    });
  }

  /** The page. */
  print(): string {
    const families = [...this.#registered.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
    return families.map((family) => printFamily(family, family.samples())).join('');
  }

  #family<Label extends string, Value extends Counter | Gauge | Histogram>(
    options: MetricOptions<Label>,
    type: MetricType,
    make: () => Value,
  ): Family<Label, Value> {
    const family = new Family<Label, Value>(this.#familyOptions(options), make);
    this.#register(options, type, () => family.samples());
    return family;
  }

  #register(options: MetricOptions, type: MetricType, samples: () => Sample[]): void {
    const { name, stability, deprecatedVersion, labels = [] } = options;
    invariant(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name), `"${name}" names a metric`);
    invariant(
      labels.every((label) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) && label !== 'le'),
      `${name}: labels have names`,
    );
    invariant(!this.#names.has(name), `there is one metric ${name}`);
    this.#names.add(name);
    const standing = this.#standing(deprecatedVersion);
    if (!this.#isShown(standing)) return;
    const notice = standing === 'shown' ? '' : `(Deprecated from ${deprecatedVersion}) `;
    this.#registered.set(name, { name, help: `[${stability}] ${notice}${options.help}`, type, samples });
  }

  #familyOptions({ name, labels = [], deprecatedVersion }: MetricOptions): FamilyOptions {
    const standing = this.#standing(deprecatedVersion);
    return {
      name,
      labels,
      limit: this.#seriesLimit,
      isShown: this.#isShown(standing),
      ...(standing === 'shown' ? {} : { onFirstUse: () => this.#warn(name, deprecatedVersion) }),
      onOverflow: () => this.#overflow.add(),
    };
  }

  #warn(name: string, since: Release | undefined): void {
    this.#onDeprecated(`metric ${name} is deprecated from ${since} on and will be hidden, then removed`);
  }

  #isShown(standing: Standing): boolean {
    return standing === 'shown' || standing === 'deprecated' || (standing === 'hidden' && this.#showsHidden);
  }

  #standing(deprecatedVersion: Release | undefined): Standing {
    if (deprecatedVersion === undefined || compareReleases(deprecatedVersion, this.release) > 0) return 'shown';
    const [major, minor] = parseRelease(this.release) ?? [0, 0];
    const [since, sinceMinor] = parseRelease(deprecatedVersion) ?? [0, 0];
    if (since < major || sinceMinor < minor - RELEASES_SHOWN) return 'gone';
    return sinceMinor === minor - RELEASES_SHOWN ? 'hidden' : 'deprecated';
  }
}

function showsHidden(release: Release, version: string | undefined): boolean {
  if (version === undefined) return false;
  const [major, minor] = parseRelease(release) ?? [0, 0];
  const previous = `${major}.${minor - 1}`;
  if (version === previous) return true;
  throw new TypeError(
    `orchplane: showHiddenMetricsForVersion must be omitted or have the value '${previous}'. Only the previous minor version is allowed`,
  );
}

function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
