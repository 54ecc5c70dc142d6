/**
 * Compares access rules: which of the wanted rules the held rules do not cover. The functions are pure.
 */

import type { AccessRule } from '../../protocol/access.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { getOrInsertComputed } from '../../util/once.js';
import { trimRight } from '../../util/trim.js';

/**
 * The part of `wanted` that `held` does not cover, as one rule for each group, resource, name (or path) and verb.
 *
 * @example
 * missingRules([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
 *   [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }])
 * // [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]
 */
export function missingRules(held: readonly AccessRule[], wanted: readonly AccessRule[]): AccessRule[] {
  const single = held.map(toHeldRule);
  const candidates = new Candidates(FIELDS.reduce(joinRules, single));
  let parts = MAX_PARTS;
  let work = MAX_WORK;
  const isCovered = (rule: AccessRule, by: readonly HeldRule[]): boolean => {
    const words = FIELDS.reduce((count, field) => count + (rule[field]?.length ?? 0), 0);
    for (const one of by) {
      work -= words;
      if (work < 0) return false;
      if (covers(one, rule)) return true;
    }
    return false;
  };
  return wanted.flatMap((rule) => {
    parts -= partsOf(rule);
    if (parts < 0) return isCovered(withoutRepetitions(rule), single) ? [] : [rule];
    return [...brokenDown(rule)].filter((part) => !candidates.of(part).some((by) => isCovered(part, by)));
  });
}

function withoutRepetitions(rule: AccessRule): AccessRule {
  return Object.fromEntries(FIELDS.map((field) => [field, [...new Set(rule[field])]])) as unknown as AccessRule;
}

/** Held rules by the resources that they name. */
class Candidates {
  readonly #byResource = new Map<string, HeldRule[]>();
  readonly #paths: readonly HeldRule[];

  constructor(rules: readonly HeldRule[]) {
    for (const rule of rules) {
      for (const resource of rule.resources) getOrInsertComputed(this.#byResource, resource, () => []).push(rule);
    }
    this.#paths = rules.filter(({ nonResourceURLs }) => nonResourceURLs.size > 0);
  }

  /** The rules that may cover a rule for one resource or path. */
  of({ resources: [resource] = [] }: AccessRule): readonly (readonly HeldRule[])[] {
    if (resource === undefined) return [this.#paths];
    const slash = resource.indexOf('/');
    const names = slash < 0 ? [resource, '*'] : [resource, `*${resource.slice(slash)}`, '*'];
    return names.map((name) => this.#byResource.get(name) ?? []);
  }
}

/** Merges rules that differ only in their verbs. The verbs keep their order. */
export function compactRules(rules: readonly AccessRule[]): AccessRule[] {
  const compacted = new Map<string, AccessRule & { readonly verbs: string[] }>();
  const others: AccessRule[] = [];
  for (const rule of rules) {
    const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
    const isSimple = apiGroups.length === 1 && resources.length === 1 && resourceNames.length < 2;
    if (!isSimple || nonResourceURLs.length > 0) {
      others.push(rule);
      continue;
    }
    const key = JSON.stringify([apiGroups, resources, resourceNames]);
    const before = compacted.get(key);
    if (before === undefined) compacted.set(key, { ...rule, verbs: [...(verbs ?? [])] });
    else append(before.verbs, verbs ?? []);
  }
  return [...others, ...compacted.values()];
}

/** Prints a rule as in messages: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function printRule(rule: AccessRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const given = parts.filter(([, values = []]) => values.length > 0);
  return `{${given.map(([name, values = []]) => `${name}:${printStringList(values)}`).join(', ')}}`;
}

/** Prints a list as in messages: `["a" "b"]`. */
export function printStringList(words: readonly string[]): string {
  return `[${words.map(quote).join(' ')}]`;
}

/**
 * The limit for the expansion of rules, because a large rule can have billions of combinations. Rules beyond it are
 * covered only if a single held rule covers them.
 */
const MAX_PARTS = 200_000;

/** The limit for comparisons of words with rules, less than a second. What is not compared is not covered. */
const MAX_WORK = 30_000_000;

function partsOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: AccessRule) {
  const named = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (verbs ?? []).length * (named + nonResourceURLs.length);
}

function* brokenDown(rule: AccessRule): Generator<AccessRule> {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const verbs = rule.verbs ?? [];
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield part;
        for (const name of resourceNames) yield { ...part, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] };
}

const FIELDS = ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const;

type HeldRule = Readonly<Record<(typeof FIELDS)[number], Set<string>>>;

function toHeldRule({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: AccessRule): HeldRule {
  return {
    verbs: new Set(verbs),
    apiGroups: new Set(apiGroups),
    resources: new Set(resources),
    resourceNames: new Set(resourceNames),
    nonResourceURLs: new Set(nonResourceURLs),
  };
}

/**
 * Joins rules that differ in one field only; a user may hold tens of thousands of them. An empty field is not joined with
 * others: without resource names a rule applies to all names.
 */
function joinRules(rules: readonly HeldRule[], field: (typeof FIELDS)[number]): readonly HeldRule[] {
  if (rules.length < 2) return rules;
  const joined = new Map<string, HeldRule>();
  for (const rule of rules) {
    const key = JSON.stringify(FIELDS.map((each) => (each === field ? rule[each].size > 0 : [...rule[each]])));
    const before = joined.get(key);
    if (before === undefined) joined.set(key, { ...rule, [field]: new Set(rule[field]) });
    else for (const word of rule[field]) before[field].add(word);
  }
  return [...joined.values()];
}

/** True if one rule covers another completely. */
function covers(held: HeldRule, wanted: AccessRule): boolean {
  return (
    // A required list is null on the wire if a client omits it.
    holdsAll(held.verbs, wanted.verbs ?? []) &&
    holdsAll(held.apiGroups, wanted.apiGroups) &&
    holdsResources(held.resources, wanted.resources) &&
    holdsNames(held.resourceNames, wanted.resourceNames) &&
    holdsPaths(held.nonResourceURLs, wanted.nonResourceURLs)
  );
}

type Words = readonly string[] | undefined;

function holdsAll(held: ReadonlySet<string>, wanted: Words = []): boolean {
  return held.has('*') || wanted.every((word) => held.has(word));
}

function holdsResources(held: ReadonlySet<string>, wanted: Words = []): boolean {
  if (held.has('*')) return true;
  return wanted.every((resource) => {
    if (held.has(resource)) return true;
    const slash = resource.indexOf('/');
    return slash >= 0 && held.has(`*${resource.slice(slash)}`);
  });
}

/** A rule without names applies to all names. */
function holdsNames(held: ReadonlySet<string>, wanted: Words = []): boolean {
  if (held.size === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.has(name));
}

function holdsPaths(held: ReadonlySet<string>, wanted: Words = []): boolean {
  return wanted.every((path) => held.has(path) || getOrInsertComputed(prefixes, held, prefixesOf).covers(path));
}

const prefixes = new WeakMap<ReadonlySet<string>, Prefixes>();

function prefixesOf(paths: ReadonlySet<string>): Prefixes {
  return new Prefixes([...paths].filter((path) => path.endsWith('*')).map((path) => trimRight(path, '*')));
}

/** Looked up by length: a path has one prefix of each. */
class Prefixes {
  readonly #texts: ReadonlySet<string>;
  readonly #lengths: readonly number[];

  constructor(texts: readonly string[]) {
    this.#texts = new Set(texts);
    this.#lengths = [...new Set(texts.map(({ length }) => length))];
  }

  covers(path: string): boolean {
    return this.#lengths.some((length) => length <= path.length && this.#texts.has(path.slice(0, length)));
  }
}
