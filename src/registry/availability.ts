/**
 * Decides which versions of which kinds a cluster serves: stable versions, unless the runtime configuration or a feature
 * gate says otherwise.
 * spec: Levels, Groups and paths
 */
import type { FeatureGates } from '../kinds/feature-gates.js';
import type { Kind } from '../kinds/kind.js';
import { compareReleases, REFERENCE_RELEASE, type Release } from '../kinds/lifecycle.js';
import { type Dialect, dialects } from '../meta/dialect.js';
import { apiVersionOf } from '../meta/gvk.js';

/**
 * `key[=value]` separated by commas, or an object of the same. Keys: `api/all`, `api/ga`, `api/beta`, `api/alpha`,
 * `<group>/<version>` (`v1` for the core group), `<group>/<version>/<resource>`. The most specific key wins.
 */
export type RuntimeConfig = string | Readonly<Record<string, boolean>>;

export type StabilityLevel = 'alpha' | 'beta' | 'ga';

/** The stability level that a version name implies. spec: Levels */
export function stabilityOf(version: string): StabilityLevel {
  if (/^v\d+alpha\d+$/.test(version)) return 'alpha';
  return /^v\d+beta\d+$/.test(version) ? 'beta' : 'ga';
}

/** Answers whether a kind is served with a given runtime configuration, set of feature gates and release. */
export class Availability {
  readonly #settings: ReadonlyMap<string, boolean>;
  readonly #features: FeatureGates;
  readonly #dialect: Dialect;
  readonly #release: Release;

  /** Throws TypeError for an invalid runtime configuration. */
  constructor(options: {
    readonly runtimeConfig?: RuntimeConfig;
    readonly features: FeatureGates;
    readonly dialect: Dialect;
    readonly release?: Release;
  }) {
    this.#settings = readRuntimeConfig(options.runtimeConfig ?? {});
    this.#features = options.features;
    this.#dialect = options.dialect;
    this.#release = options.release ?? REFERENCE_RELEASE;
  }

  /** Why a kind is not served, as text for a user; undefined when it is served. A kind requested by name needs neither to be stable nor to have its gate enabled. */
  unavailable(kind: Kind, asked: 'by name' | 'by default'): string | undefined {
    const missing = this.#missingFrom(kind);
    if (missing !== undefined) return missing;
    const setting = this.#settingOf(kind);
    const level = stabilityOf(kind.version);
    const apiVersion = apiVersionOf({ group: this.#dialect.group(kind.group), version: kind.version });
    if (setting === false || (setting === undefined && asked === 'by default' && !isOnByDefault(kind))) {
      const state = setting === false ? 'switched off' : `${level} and off by default`;
      // A kind that the most specific key disables can only be enabled with the same key.
      const key = setting === false ? `${apiVersion}/${kind.names.plural}` : apiVersion;
      return `${kind.kind} in ${apiVersion} is ${state} (runtimeConfig: '${key}=true')`;
    }
    if (asked === 'by default' && kind.gate !== undefined && !this.#features.enabled(kind.gate)) {
      return `${kind.kind} needs the feature gate ${kind.gate} (featureGates: { ${kind.gate}: true })`;
    }
    return undefined;
  }

  /** Why the emulated release does not contain the kind; undefined when it does. */
  #missingFrom(kind: Kind): string | undefined {
    const { introducedIn, removedIn } = kind.lifecycle ?? {};
    const apiVersion = apiVersionOf({ group: this.#dialect.group(kind.group), version: kind.version });
    const what = `${kind.kind} in ${apiVersion}`;
    if (introducedIn !== undefined && compareReleases(introducedIn, this.#release) > 0) {
      return `${what} was introduced in release ${introducedIn}; this cluster emulates release ${this.#release}`;
    }
    if (removedIn !== undefined && compareReleases(removedIn, this.#release) <= 0) {
      return `${what} was removed in release ${removedIn}; this cluster emulates release ${this.#release}`;
    }
    return undefined;
  }

  /** Throws TypeError for a configured group that none of the kinds belongs to: it is most likely misspelt. */
  requireGroupsOf(kinds: Iterable<Kind>): void {
    const known = new Set(['api']);
    for (const { group } of kinds) for (const name of spellings(group)) known.add(name);
    for (const key of this.#settings.keys()) {
      const [group = ''] = key.includes('/') && !/^v\d/.test(key) ? key.split('/') : [''];
      if (!known.has(group) || (group === '' && !/^v\d/.test(key))) {
        throw new TypeError(`orchplane: runtimeConfig: unknown api group in "${key}"`);
      }
    }
  }

  #settingOf(kind: Kind): boolean | undefined {
    // Fast path for clusters without a runtime configuration.
    if (this.#settings.size === 0) return undefined;
    const level = stabilityOf(kind.version);
    // The configuration may use the group names of either dialect.
    const groups = spellings(kind.group);
    const versions = groups.map((group) => apiVersionOf({ group, version: kind.version }));
    const resources = versions.map((version) => `${version}/${kind.names.plural}`);
    for (const key of [...resources, ...versions, `api/${level}`, 'api/all']) {
      const setting = this.#settings.get(key);
      if (setting !== undefined) return setting;
    }
    return undefined;
  }
}

function isOnByDefault({ version, lifecycle }: Kind): boolean {
  return stabilityOf(version) === 'ga' || lifecycle?.servedByDefault === true;
}

/** The names of a group in all dialects. */
function spellings(group: string): string[] {
  return [group, ...dialects.map((dialect) => dialect.group(group))];
}

function readRuntimeConfig(config: RuntimeConfig): ReadonlyMap<string, boolean> {
  const entries = typeof config === 'string' ? parseEntries(config) : Object.entries(config);
  const settings = new Map<string, boolean>();
  for (const [key, value] of entries) {
    const parts = key.split('/');
    const wellFormed = parts.every((part) => part !== '') && parts.length <= 3;
    const known = parts[0] !== 'api' || /^api\/(all|ga|beta|alpha)$/.test(key);
    if (!wellFormed || !known) throw new TypeError(`orchplane: runtimeConfig: unknown key "${key}"`);
    if (typeof value !== 'boolean') throw invalidValue(key, String(value));
    settings.set(key, value);
  }
  return settings;
}

function parseEntries(text: string): [string, boolean][] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [key = '', value = 'true', ...rest] = entry.split('=');
      if (rest.length > 0 || !/^(true|false|1|0|t|f)$/i.test(value)) throw invalidValue(key, value);
      return [key, /^(true|1|t)$/i.test(value)];
    });
}

function invalidValue(key: string, value: string): TypeError {
  return new TypeError(`orchplane: runtimeConfig: invalid value of ${key}=${value}, expected true or false`);
}
