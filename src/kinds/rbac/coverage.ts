/**
 * Whether rules that somebody holds cover rules that he wants to give away, and what is missing if not. Nothing here
 * looks at objects: rules in, rules and text out.
 */

import type { AccessRule } from '../../protocol/access.js';
import { quote } from '../../text/go/go-text.js';

/**
 * What of `wanted` is not held: one rule for each group, resource and name (or path) and verb. Empty: all of it is.
 *
 * @example
 * missingRules([{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
 *   [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }])
 * // [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }]
 */
export function missingRules(held: readonly AccessRule[], wanted: readonly AccessRule[]): AccessRule[] {
  let left = MOST_PARTS;
  return wanted.flatMap((rule) => {
    left -= partsOf(rule);
    if (left < 0) return held.some((one) => covers(one, rule)) ? [] : [rule];
    return [...brokenDown(rule)].filter((part) => !held.some((one) => covers(one, part)));
  });
}

/** Rules that differ in their verbs alone become one. Verbs stay in the order in which they come. */
export function compactRules(rules: readonly AccessRule[]): AccessRule[] {
  const compacted = new Map<string, AccessRule>();
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
    compacted.set(key, before === undefined ? rule : { ...before, verbs: [...before.verbs, ...verbs] });
  }
  return [...others, ...compacted.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`: how messages show a rule. */
export function printRule(rule: AccessRule): string {
  const parts: readonly (readonly [string, readonly string[] | undefined])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const given = parts.filter(([, values = []]) => values.length > 0);
  return `{${given.map(([name, values = []]) => `${name}:${printWords(values)}`).join(', ')}}`;
}

/** `["a" "b"]`. */
export function printWords(words: readonly string[]): string {
  return `[${words.map(quote).join(' ')}]`;
}

/**
 * A rule of a few hundred kilobytes stands for more parts than any machine can count. Rules beyond this many parts
 * are looked at as a whole, and held only if one rule holds all of it.
 */
const MOST_PARTS = 200_000;

function partsOf({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: AccessRule) {
  const named = apiGroups.length * resources.length * Math.max(1, resourceNames.length);
  return (verbs ?? []).length * (named + nonResourceURLs.length);
}

function* brokenDown(rule: AccessRule): Generator<AccessRule> {
  const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  // A list that is always on the wire is null there when it was not given.
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

/** Whether one rule holds all that another one says. */
function covers(held: AccessRule, wanted: AccessRule): boolean {
  return (
    holdsAll(held.verbs, wanted.verbs) &&
    holdsAll(held.apiGroups, wanted.apiGroups) &&
    holdsResources(held.resources, wanted.resources) &&
    holdsNames(held.resourceNames, wanted.resourceNames) &&
    holdsPaths(held.nonResourceURLs, wanted.nonResourceURLs)
  );
}

type Words = readonly string[] | undefined;

function holdsAll(held: Words = [], wanted: Words = []): boolean {
  return held.includes('*') || wanted.every((word) => held.includes(word));
}

function holdsResources(held: Words = [], wanted: Words = []): boolean {
  if (held.includes('*')) return true;
  return wanted.every((resource) => {
    if (held.includes(resource)) return true;
    const slash = resource.indexOf('/');
    return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
  });
}

/** Without names a rule is about all of them. */
function holdsNames(held: Words = [], wanted: Words = []): boolean {
  if (held.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => held.includes(name));
}

function holdsPaths(held: Words = [], wanted: Words = []): boolean {
  return wanted.every((path) =>
    held.some((one) => one === path || (one.endsWith('*') && path.startsWith(one.replace(/\*+$/, '')))),
  );
}
