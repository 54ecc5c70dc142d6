/**
 * An index of rules by resource, so that a decision only visits rules that mention the resource.
 *
 * Under each resource there is one entry per distinct pair of verbs and groups; an entry holds the sources of the rules, by
 * the resource names that they are limited to. If `a` and `b` both allow get and list on pods, `b` for one pod only:
 *
 *   pods → '' → [{ verbs: get, list; groups: ''; any: a; named: { web: b } }]
 *
 * Sources are added in order of precedence, and the first one that allows an access is reported.
 */

import type { AccessAttributes, AccessRule, ResourceAttributes } from '../../protocol/access.js';
import { getOrInsertComputed } from '../../util/once.js';
import { trimRight } from '../../util/trim.js';

type IsBefore<Source> = (left: Source, right: Source) => boolean;

/** The first source that allows an access. */
interface Sources<Source> {
  /** For any name. */
  any: Source | undefined;
  /** For one name only. */
  readonly named: Map<string, Source>;
}

interface Entry<Source> extends Sources<Source> {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  /** Rules with many resources and names. Their names are shared by the entries of all their resources. */
  readonly wide: WideRule<Source>[];
}

interface WideRule<Source> {
  readonly names: ReadonlySet<string>;
  readonly source: Source;
}

/** The names of a rule with more resources and more names than this are shared, because the product may be large. */
const MANY = 8;

interface PathEntry<Source> {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
  readonly source: Source;
}

/** Rules are added before the first lookup and never removed. */
export class RuleTable<Source> {
  /** By resource, by subresource. */
  readonly #resources = new Map<string, Map<string, ResourceRules<Source>>>();
  readonly #paths: PathEntry<Source>[] = [];
  readonly #isBefore: IsBefore<Source>;

  /** `isBefore` must agree with the order in which sources are added. */
  constructor(isBefore: IsBefore<Source>) {
    this.#isBefore = isBefore;
  }

  add(rules: readonly AccessRule[], source: Source): void {
    for (const rule of rules) {
      const { verbs } = rule;
      // Stored lists may be null.
      const [groups, paths] = [rule.apiGroups ?? [], rule.nonResourceURLs ?? []];
      const resources = new Set(rule.resources);
      const names = new Set(rule.resourceNames);
      const added = { verbs, groups, names, key: JSON.stringify([verbs, groups]), isWide: isWide(resources, names) };
      for (const resource of resources) this.#cellOf(resource).add(added, source);
      if (paths.length > 0) this.#paths.push({ verbs, paths, source });
    }
  }

  /** The first source that allows the access. */
  find(attributes: AccessAttributes): Source | undefined {
    if (attributes.type === 'resource') return this.#findResource(attributes);
    const { verb, path } = attributes;
    for (const { verbs, paths, source } of this.#paths) {
      if (includesOrAll(verbs, verb) && paths.some((pattern) => pathMatches(pattern, path))) return source;
    }
    return undefined;
  }

  #cellOf(text: string): ResourceRules<Source> {
    const [resource, subresource] = split(text);
    const below = getOrInsertComputed(this.#resources, resource, () => new Map());
    return getOrInsertComputed(below, subresource, () => new ResourceRules<Source>());
  }

  #findResource(attributes: ResourceAttributes): Source | undefined {
    const { resource, subresource } = attributes;
    let found: Source | undefined;
    // Access reviews may pass both parts as the resource.
    if (resource.includes('/')) {
      const [first, rest] = split(subresource === '' ? resource : `${resource}/${subresource}`);
      found = this.#resources.get(first)?.get(rest)?.find(attributes, this.#isBefore);
    } else {
      found = this.#resources.get(resource)?.get(subresource)?.find(attributes, this.#isBefore);
    }
    const all = this.#resources.get('*');
    if (all === undefined) return found;
    if (subresource !== '') found = this.#earlier(found, all.get(subresource), attributes);
    return this.#earlier(found, all.get(''), attributes);
  }

  #earlier(
    found: Source | undefined,
    cell: ResourceRules<Source> | undefined,
    attributes: ResourceAttributes,
  ): Source | undefined {
    return cell === undefined ? found : earlier(found, cell.find(attributes, this.#isBefore), this.#isBefore);
  }
}

/** With more entries than this for one resource, an index by verb and group is built. */
const INDEX_THRESHOLD = 8;

/**
 * The maximum size of the index: a rule of a few kilobytes may expand to more combinations of verbs, groups and names than
 * fit into memory. Rules beyond it are visited one by one.
 */
const MAX_INDEXED = 100_000;

class ResourceRules<Source> {
  readonly #entries: Entry<Source>[] = [];
  /** By verbs and groups: a role may have tens of thousands of rules. */
  readonly #byWords = new Map<string, Entry<Source>>();
  #index: Index<Source> | undefined;

  add({ verbs, groups, names, key, isWide }: AddedRule, source: Source): void {
    let entry = this.#byWords.get(key);
    if (entry === undefined) {
      entry = { verbs, groups, any: undefined, named: new Map(), wide: [] };
      this.#byWords.set(key, entry);
      this.#entries.push(entry);
    }
    if (names.size === 0) entry.any ??= source;
    else if (isWide) entry.wide.push({ names, source });
    else for (const name of names) if (!entry.named.has(name)) entry.named.set(name, source);
  }

  find({ verb, group, name }: ResourceAttributes, isBefore: IsBefore<Source>): Source | undefined {
    let found: Source | undefined;
    let entries = this.#entries;
    if (entries.length > INDEX_THRESHOLD) {
      this.#index ??= buildIndex(entries, isBefore);
      const { byVerb, others } = this.#index;
      const these = byVerb.get(verb);
      const all = byVerb.get('*');
      for (const sources of [these?.get(group), these?.get('*'), all?.get(group), all?.get('*')]) {
        if (sources !== undefined) found = firstSource(sources, name, { soFar: found, isBefore });
      }
      entries = others;
    }
    for (const entry of entries) {
      if (!includesOrAll(entry.verbs, verb) || !includesOrAll(entry.groups, group)) continue;
      found = firstSource(entry, name, { soFar: found, isBefore });
      const wide = entry.wide.find(({ names }) => names.has(name));
      found = earlier(found, wide?.source, isBefore);
    }
    return found;
  }
}

/** A rule as it is added to each of its resources. */
interface AddedRule {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
  /** Empty: any name. */
  readonly names: ReadonlySet<string>;
  /** Of the verbs and groups. */
  readonly key: string;
  readonly isWide: boolean;
}

function isWide(resources: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  return resources.size > MANY && names.size > MANY;
}

function firstSource<Source>(
  { any, named }: Sources<Source>,
  name: string,
  { soFar, isBefore }: { readonly soFar: Source | undefined; readonly isBefore: IsBefore<Source> },
): Source | undefined {
  const found = earlier(soFar, any, isBefore);
  return named.size === 0 ? found : earlier(found, named.get(name), isBefore);
}

function earlier<Source>(
  left: Source | undefined,
  right: Source | undefined,
  isBefore: IsBefore<Source>,
): Source | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return isBefore(right, left) ? right : left;
}

interface Index<Source> {
  /** By verb, by group. */
  readonly byVerb: ReadonlyMap<string, ReadonlyMap<string, Sources<Source>>>;
  /** Entries that would exceed the maximum size. */
  readonly others: Entry<Source>[];
}

function buildIndex<Source>(entries: readonly Entry<Source>[], isBefore: IsBefore<Source>): Index<Source> {
  const byVerb = new Map<string, Map<string, Sources<Source>>>();
  const others: Entry<Source>[] = [];
  let left = MAX_INDEXED;
  for (const entry of entries) {
    const { verbs, groups, any, named, wide } = entry;
    const size = verbs.length * groups.length * Math.max(1, named.size);
    if (size > left || wide.length > 0) {
      others.push(entry);
      continue;
    }
    left -= size;
    for (const verb of verbs) {
      const byGroup = getOrInsertComputed(byVerb, verb, () => new Map<string, Sources<Source>>());
      for (const group of groups) {
        const sources = getOrInsertComputed(byGroup, group, () => ({ any: undefined, named: new Map() }));
        sources.any = earlier(sources.any, any, isBefore);
        for (const [name, source] of named) {
          const first = earlier(sources.named.get(name), source, isBefore);
          if (first !== undefined) sources.named.set(name, first);
        }
      }
    }
  }
  return { byVerb, others };
}

/** Splits `pods/log`. A trailing slash belongs to the resource. */
function split(text: string): readonly [string, string] {
  const slash = text.indexOf('/');
  return slash < 0 || slash === text.length - 1 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
}

function includesOrAll(values: readonly string[], value: string): boolean {
  return values.includes(value) || values.includes('*');
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path || pattern === '*') return true;
  return pattern.endsWith('*') && path.startsWith(trimRight(pattern, '*'));
}
