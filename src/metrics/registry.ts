/**
 * The registry of a server's metrics: their stability, their visibility in this release, and the metrics page.
 * spec: Deprecation rules
 */
import { compareReleases, parseRelease, REFERENCE_RELEASE, type Release } from '../kinds/lifecycle.js';
import { invariant } from '../util/invariant.js';
import { once } from '../util/once.js';
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

/** The stability of a metric; ALPHA promises nothing. */
export type Stability = 'ALPHA' | 'BETA' | 'STABLE';

export interface MetricOptions<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly stability: Stability;
  readonly labels?: readonly Label[];
  /** The release that deprecated it. Printed for three releases, hidden in the next, then removed. */
  readonly deprecatedVersion?: Release;
}

export interface RegistryOptions {
  /** The emulated release. */
  readonly release?: Release | undefined;
  /** The previous release: prints what it printed and this one hides. */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /** Called when a deprecated metric is recorded for the first time. */
  readonly onDeprecated?: ((message: string) => void) | undefined;
  /** The maximum number of series per metric. Default: 5000. */
  readonly seriesLimit?: number | undefined;
}

/** Reads values that are kept elsewhere, when the page is printed. */
export type ReadValues<Label extends string> = () => Iterable<readonly [labels: Labels<Label>, value: number]>;

const DEFAULT_SERIES_LIMIT = 5000;
/** The number of releases in which a deprecated metric is still printed. */
const RELEASES_SHOWN = 3;

type Visibility = 'shown' | 'deprecated' | 'hidden' | 'gone';

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

  /** Throws a TypeError for an invalid `showHiddenMetricsForVersion`. */
  constructor(options: RegistryOptions = {}) {
    this.release = options.release ?? REFERENCE_RELEASE;
    this.#showsHidden = showsHidden(this.release, options.showHiddenMetricsForVersion);
    this.#onDeprecated = options.onDeprecated ?? (() => undefined);
    this.#seriesLimit = options.seriesLimit ?? DEFAULT_SERIES_LIMIT;
    this.#overflow = this.counter({
      name: 'cardinality_enforcement_unexpected_categorizations_total',
      help: 'Recordings under the label "unexpected", because their metric reached its limit of series.',
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

  /** Registers a metric whose values are kept elsewhere. */
  collect<const Label extends string = never>(
    options: MetricOptions<Label> & { readonly type: 'counter' | 'gauge' },
    read: ReadValues<Label>,
  ): void {
    const { onFirstUse = () => undefined, ...rest } = this.#familyOptions(options);
    const familyOptions = { ...rest, onFirstUse: once(onFirstUse) };
    this.#register(options, options.type, () => {
      const family = new Family<Label, Gauge>(familyOptions, () => new Gauge());
      for (const [labels, value] of read()) family.with(labels).add(value);
      return family.samples();
    });
  }

  /** The metrics page. */
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
    invariant(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name), `"${name}" is not a valid metric name`);
    invariant(
      labels.every((label) => /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(label) && label !== 'le'),
      `${name}: invalid label name`,
    );
    invariant(!this.#names.has(name), `metric ${name} is registered twice`);
    this.#names.add(name);
    const visibility = this.#visibilityOf(deprecatedVersion);
    if (!this.#isShown(visibility)) return;
    const notice = visibility === 'shown' ? '' : `(Deprecated from ${deprecatedVersion}) `;
    this.#registered.set(name, { name, help: `[${stability}] ${notice}${options.help}`, type, samples });
  }

  #familyOptions({ name, labels = [], deprecatedVersion }: MetricOptions): FamilyOptions {
    const visibility = this.#visibilityOf(deprecatedVersion);
    return {
      name,
      labels,
      limit: this.#seriesLimit,
      isShown: this.#isShown(visibility),
      ...(visibility === 'shown' ? {} : { onFirstUse: () => this.#warn(name, deprecatedVersion) }),
      onOverflow: () => this.#overflow.add(),
    };
  }

  #warn(name: string, since: Release | undefined): void {
    this.#onDeprecated(`metric ${name} is deprecated from ${since} on and will be hidden, then removed`);
  }

  #isShown(visibility: Visibility): boolean {
    return visibility === 'shown' || visibility === 'deprecated' || (visibility === 'hidden' && this.#showsHidden);
  }

  #visibilityOf(deprecatedVersion: Release | undefined): Visibility {
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
