/**
 * Rules laid out so that a question is answered without a look at those that speak of something else.
 *
 * Resource rules lie under each resource they name, and there once for every pair of verbs and groups; who gave the rule
 * hangs below, by the names it is limited to. With `a` and `b` both allowing get and list on pods, `b` only for one pod:
 *
 *   pods → '' → [{ verbs: get, list; groups: ''; any: a; named: { web: b } }]
 *
 * Sources are added in the order in which they count, and the first that allows a thing is the one that is told.
 */
import type { AccessAttributes, AccessRule, ResourceAttributes } from '../../kinds/access.js';

interface ResourceEntry<Source> {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  /** Where the rule holds whatever the name. */
  any: Source | undefined;
  readonly named: Map<string, Source>;
}

interface PathEntry<Source> {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
  readonly source: Source;
}

export class RuleTable<Source> {
  /** By resource, by subresource. */
  readonly #resources = new Map<string, Map<string, ResourceEntry<Source>[]>>();
  readonly #paths: PathEntry<Source>[] = [];
  readonly #isBefore: (left: Source, right: Source) => boolean;

  /** `isBefore` must be the order in which sources are added. */
  constructor(isBefore: (left: Source, right: Source) => boolean) {
    this.#isBefore = isBefore;
  }

  add(rules: readonly AccessRule[], source: Source): void {
    for (const rule of rules) {
      for (const resource of new Set(rule.resources ?? [])) this.#addResource(resource, rule, source);
      const { verbs, nonResourceURLs: paths = [] } = rule;
      if (paths.length > 0) this.#paths.push({ verbs, paths, source });
    }
  }

  /** The first source that allows it. */
  find(attributes: AccessAttributes): Source | undefined {
    if (attributes.type === 'resource') return this.#findResource(attributes);
    const { verb, path } = attributes;
    return this.#paths.find(
      ({ verbs, paths }) => includesOrAll(verbs, verb) && paths.some((pattern) => pathMatches(pattern, path)),
    )?.source;
  }

  #addResource(text: string, { verbs, apiGroups: groups = [], resourceNames = [] }: AccessRule, source: Source): void {
    const [resource, subresource] = split(text);
    const entries = this.#entriesOf(resource, subresource);
    let entry = entries.find((one) => sameWords(one.verbs, verbs) && sameWords(one.groups, groups));
    if (entry === undefined) {
      entry = { verbs, groups, any: undefined, named: new Map() };
      entries.push(entry);
    }
    if (resourceNames.length === 0) entry.any ??= source;
    for (const name of resourceNames) if (!entry.named.has(name)) entry.named.set(name, source);
  }

  #entriesOf(resource: string, subresource: string): ResourceEntry<Source>[] {
    const below = this.#resources.get(resource) ?? new Map<string, ResourceEntry<Source>[]>();
    this.#resources.set(resource, below);
    const entries = below.get(subresource) ?? [];
    below.set(subresource, entries);
    return entries;
  }

  #findResource(attributes: ResourceAttributes): Source | undefined {
    const { resource, subresource } = attributes;
    let found: Source | undefined;
    // A review may put both into one word.
    if (resource.includes('/')) {
      const [first, rest] = split(subresource === '' ? resource : `${resource}/${subresource}`);
      found = this.#first(this.#resources.get(first)?.get(rest), attributes, found);
    } else {
      found = this.#first(this.#resources.get(resource)?.get(subresource), attributes, found);
    }
    const all = this.#resources.get('*');
    if (all === undefined) return found;
    if (subresource !== '') found = this.#first(all.get(subresource), attributes, found);
    return this.#first(all.get(''), attributes, found);
  }

  /** The first of what was found so far and of those that allow it. */
  #first(
    entries: readonly ResourceEntry<Source>[] | undefined,
    { verb, group, name }: ResourceAttributes,
    soFar: Source | undefined,
  ): Source | undefined {
    if (entries === undefined) return soFar;
    let found = soFar;
    for (const { verbs, groups, any, named } of entries) {
      if (!includesOrAll(verbs, verb) || !includesOrAll(groups, group)) continue;
      found = this.#earlier(found, any);
      if (named.size > 0) found = this.#earlier(found, named.get(name));
    }
    return found;
  }

  #earlier(left: Source | undefined, right: Source | undefined): Source | undefined {
    if (left === undefined || right === undefined) return left ?? right;
    return this.#isBefore(right, left) ? right : left;
  }
}

/** `pods/log` is two words. A slash at the end belongs to the first: nothing is below it. */
function split(text: string): readonly [string, string] {
  const slash = text.indexOf('/');
  return slash < 0 || slash === text.length - 1 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
}

function includesOrAll(words: readonly string[], word: string): boolean {
  return words.includes(word) || words.includes('*');
}

function sameWords(left: readonly string[], right: readonly string[]): boolean {
  return left === right || (left.length === right.length && left.every((word, index) => word === right[index]));
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path || pattern === '*') return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}
