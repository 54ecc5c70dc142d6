/**
 * The pod security policy of a namespace: a level and a version for each of three modes, from labels and defaults.
 * `enforce` rejects, `audit` adds an audit annotation, `warn` adds a warning. spec: Namespace
 */
import type { Dialect } from '../../meta/dialect.js';
import { type FieldError, invalid, keyPath } from '../../meta/field-error.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import { own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';

/** From the least to the most restrictive. */
export const LEVELS = ['privileged', 'baseline', 'restricted'] as const;
export type Level = (typeof LEVELS)[number];

export const MODES = ['enforce', 'audit', 'warn'] as const;
export type Mode = (typeof MODES)[number];

export const LATEST = 'latest';

/** A level as of a release: `baseline:v1.24`, `restricted:latest`. */
export interface LevelVersion {
  readonly level: Level;
  /** `latest`, or `v1.` and a number. */
  readonly version: string;
}

export type Policy = Readonly<Record<Mode, LevelVersion>>;

/** The policy is always usable: invalid labels are replaced by fallbacks and reported in `errors`. */
export interface ParsedPolicy {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

export type Labels = Readonly<Record<string, string>>;

const INVALID_LEVEL = `must be one of ${LEVELS.join(', ')}`;
const INVALID_VERSION = 'must be "latest" or "v1.x"';
/**
 * The reference server parses minor versions as 64-bit integers.
 * upstream: pod-security-admission/api/helpers.go ParseVersion
 */
const MAX_MINOR = 2n ** 63n - 1n;
/** The level for an invalid value: enforce strictly, but do not audit or warn. */
const FALLBACK: Readonly<Record<Mode, Level>> = { enforce: 'restricted', audit: 'privileged', warn: 'privileged' };

/** The subdomain of the label keys and of the audit annotation keys. */
const SUBDOMAIN = 'pod-security';

/** The label key of `enforce`, `enforce-version`, … */
export function podSecurityKey(name: string, dialect: Dialect): string {
  return dialect.subkey(SUBDOMAIN, name);
}

export function isLevel(text: string): text is Level {
  return LEVELS.some((level) => level === text);
}

/** `v1.24` is valid, `v1.024` and `1.24` are not. */
export function isVersion(text: string): boolean {
  if (text === LATEST) return true;
  const [, minor] = /^v1\.(0|[1-9][0-9]*)$/.exec(text) ?? [];
  return minor !== undefined && BigInt(minor) <= MAX_MINOR;
}

/** The minor version; `latest` is greater than all. */
export function minorOf(version: string): number {
  return version === LATEST ? Number.POSITIVE_INFINITY : Number(version.slice('v1.'.length));
}

export function printLevel({ level, version }: LevelVersion): string {
  return `${level}:${version}`;
}

export function isStricter(left: Level, right: Level): boolean {
  return LEVELS.indexOf(left) > LEVELS.indexOf(right);
}

/** Labels take precedence over defaults. */
export function policyOf(labels: Labels, defaults: Policy, dialect: Dialect): ParsedPolicy {
  const errors: FieldError[] = [];
  const read = (mode: Mode): LevelVersion => {
    const keys = { level: podSecurityKey(mode, dialect), version: podSecurityKey(`${mode}-version`, dialect) };
    const { level = defaults[mode].level, version = defaults[mode].version } = {
      level: own(labels, keys.level),
      version: own(labels, keys.version),
    };
    if (!isLevel(level)) errors.push(invalid(keyPath('metadata.labels', keys.level), level, INVALID_LEVEL));
    if (!isVersion(version)) errors.push(invalid(keyPath('metadata.labels', keys.version), version, INVALID_VERSION));
    return { level: isLevel(level) ? level : FALLBACK[mode], version: isVersion(version) ? version : LATEST };
  };
  const [enforce, audit, warn] = [read('enforce'), read('audit'), read('warn')];
  return { policy: { enforce, audit, warn: warnAsEnforced(warn, enforce, { labels, dialect }) }, errors };
}

/** Without a `warn` label, an `enforce` label that is stricter also applies to warnings. */
function warnAsEnforced(
  warn: LevelVersion,
  enforce: LevelVersion,
  { labels, dialect }: { readonly labels: Labels; readonly dialect: Dialect },
): LevelVersion {
  if (own(labels, podSecurityKey('warn', dialect)) !== undefined) return warn;
  // A fallback level does not count.
  if (own(labels, podSecurityKey('enforce', dialect)) !== enforce.level) return warn;
  if (!isStricter(enforce.level, warn.level)) return warn;
  const hasVersion = own(labels, podSecurityKey('warn-version', dialect)) !== undefined;
  return { level: enforce.level, version: hasVersion ? warn.version : enforce.version };
}

export interface PodSecurityOptions {
  /** Levels (`baseline`) and versions (`v1.30`, `latest`) of namespaces without labels. Default: `privileged:latest`. */
  readonly defaults?: {
    readonly enforce?: Level;
    readonly enforceVersion?: string;
    readonly audit?: Level;
    readonly auditVersion?: string;
    readonly warn?: Level;
    readonly warnVersion?: string;
  };
  /** Exempt requests; default: none. */
  readonly exemptions?: {
    readonly usernames?: readonly string[];
    readonly namespaces?: readonly string[];
    readonly runtimeClasses?: readonly string[];
  };
}

export interface PodSecuritySettings {
  readonly defaults: Policy;
  readonly usernames: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
  readonly runtimeClasses: ReadonlySet<string>;
}

/** Throws a TypeError for invalid options. */
export function podSecuritySettings(options: PodSecurityOptions): PodSecuritySettings {
  refuseUnknownOptions('podSecurityWith', options, ['defaults', 'exemptions']);
  const { defaults = {}, exemptions = {} } = options;
  const modes = MODES.flatMap((mode) => [mode, `${mode}Version`]);
  refuseUnknownOptions('podSecurityWith, defaults', defaults, modes);
  refuseUnknownOptions('podSecurityWith, exemptions', exemptions, ['usernames', 'namespaces', 'runtimeClasses']);
  const read = (mode: Mode) => {
    const { [mode]: level = 'privileged', [`${mode}Version` as const]: version = LATEST } = defaults;
    if (!isLevel(level)) throw invalidOption(`defaults.${mode}`, level, 'privileged, baseline or restricted');
    if (!isVersion(version)) throw invalidOption(`defaults.${mode}Version`, version, 'latest or v1.x');
    return { level, version };
  };
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  for (const name of usernames) if (!name) throw invalidOption('exemptions.usernames', name, 'the name of a user');
  for (const name of namespaces) {
    if (dnsLabelProblems(name).length > 0)
      throw invalidOption('exemptions.namespaces', name, 'the name of a namespace');
  }
  for (const name of runtimeClasses) {
    if (dnsSubdomainProblems(name).length > 0) {
      throw invalidOption('exemptions.runtimeClasses', name, 'the name of a RuntimeClass');
    }
  }
  return {
    defaults: { enforce: read('enforce'), audit: read('audit'), warn: read('warn') },
    usernames: new Set(usernames),
    namespaces: new Set(namespaces),
    runtimeClasses: new Set(runtimeClasses),
  };
}

function invalidOption(option: string, value: string, wanted: string): TypeError {
  return new TypeError(`orchplane: podSecurityWith: ${option} is ${JSON.stringify(value)}; it must be ${wanted}`);
}
