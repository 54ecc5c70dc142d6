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
import type { AccessAttributes, AccessRule, ResourceAttributes } from '../../protocol/access.js';

type IsBefore<Source> = (left: Source, right: Source) => boolean;

/** Who allows it, first of all. */
interface Holders<Source> {
  /** Whatever the name. */
  any: Source | undefined;
  /** Under one name only. */
  readonly named: Map<string, Source>;
}

interface Entry<Source> extends Holders<Source> {
  readonly verbs: readonly string[];
  readonly groups: readonly string[];
}

interface PathEntry<Source> {
  readonly verbs: readonly string[];
  readonly paths: readonly string[];
  readonly source: Source;
}

/** What is there from the beginning stays; rules are only added before the first question. */
export class RuleTable<Source> {
  /** By resource, by subresource. */
  readonly #resources = new Map<string, Map<string, Cell<Source>>>();
  readonly #paths: PathEntry<Source>[] = [];
  readonly #isBefore: IsBefore<Source>;

  /** `isBefore` must be the order in which sources are added. */
  constructor(isBefore: IsBefore<Source>) {
    this.#isBefore = isBefore;
  }

  add(rules: readonly AccessRule[], source: Source): void {
    for (const rule of rules) {
      for (const resource of new Set(rule.resources ?? [])) this.#cellOf(resource).add(rule, source);
      const { verbs, nonResourceURLs: paths = [] } = rule;
      if (paths.length > 0) this.#paths.push({ verbs, paths, source });
    }
  }

  /** The first source that allows it. */
  find(attributes: AccessAttributes): Source | undefined {
    if (attributes.type === 'resource') return this.#findResource(attributes);
    const { verb, path } = attributes;
    for (const { verbs, paths, source } of this.#paths) {
      if (includesOrAll(verbs, verb) && paths.some((pattern) => pathMatches(pattern, path))) return source;
    }
    return undefined;
  }

  #cellOf(text: string): Cell<Source> {
    const [resource, subresource] = split(text);
    const below = this.#resources.get(resource) ?? new Map<string, Cell<Source>>();
    this.#resources.set(resource, below);
    const cell = below.get(subresource) ?? new Cell<Source>();
    below.set(subresource, cell);
    return cell;
  }

  #findResource(attributes: ResourceAttributes): Source | undefined {
    const { resource, subresource } = attributes;
    let found: Source | undefined;
    // A review may put both into one word.
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
    cell: Cell<Source> | undefined,
    attributes: ResourceAttributes,
  ): Source | undefined {
    return cell === undefined ? found : earlier(found, cell.find(attributes, this.#isBefore), this.#isBefore);
  }
}

/** More ways of speaking about one resource than this are looked up by verb and group. */
const MANY = 8;

/**
 * A rule of a few kilobytes stands for more pairs of verbs, groups and names than any memory holds. What is beyond this
 * many is looked at rule by rule.
 */
const MOST_INDEXED = 100_000;

/** What is said about one resource. */
class Cell<Source> {
  readonly #entries: Entry<Source>[] = [];
  /** By what is said in verbs and groups: a role may have tens of thousands of rules. */
  readonly #byWords = new Map<string, Entry<Source>>();
  #index: Index<Source> | undefined;

  add({ verbs, apiGroups: groups = [], resourceNames = [] }: AccessRule, source: Source): void {
    const words = JSON.stringify([verbs, groups]);
    let entry = this.#byWords.get(words);
    if (entry === undefined) {
      entry = { verbs, groups, any: undefined, named: new Map() };
      this.#byWords.set(words, entry);
      this.#entries.push(entry);
    }
    if (resourceNames.length === 0) entry.any ??= source;
    for (const name of resourceNames) if (!entry.named.has(name)) entry.named.set(name, source);
  }

  find({ verb, group, name }: ResourceAttributes, isBefore: IsBefore<Source>): Source | undefined {
    let found: Source | undefined;
    let entries = this.#entries;
    if (entries.length > MANY) {
      this.#index ??= indexed(entries, isBefore);
      const { byVerb, others } = this.#index;
      const these = byVerb.get(verb);
      const all = byVerb.get('*');
      for (const holders of [these?.get(group), these?.get('*'), all?.get(group), all?.get('*')]) {
        if (holders !== undefined) found = holding(holders, name, { soFar: found, isBefore });
      }
      entries = others;
    }
    for (const entry of entries) {
      if (!includesOrAll(entry.verbs, verb) || !includesOrAll(entry.groups, group)) continue;
      found = holding(entry, name, { soFar: found, isBefore });
    }
    return found;
  }
}

function holding<Source>(
  { any, named }: Holders<Source>,
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
  readonly byVerb: ReadonlyMap<string, ReadonlyMap<string, Holders<Source>>>;
  /** What is too much to be laid out. */
  readonly others: Entry<Source>[];
}

function indexed<Source>(entries: readonly Entry<Source>[], isBefore: IsBefore<Source>): Index<Source> {
  const byVerb = new Map<string, Map<string, Holders<Source>>>();
  const others: Entry<Source>[] = [];
  let left = MOST_INDEXED;
  for (const entry of entries) {
    const { verbs, groups, any, named } = entry;
    const size = verbs.length * groups.length * Math.max(1, named.size);
    if (size > left) {
      others.push(entry);
      continue;
    }
    left -= size;
    for (const verb of verbs) {
      const byGroup = byVerb.get(verb) ?? new Map<string, Holders<Source>>();
      byVerb.set(verb, byGroup);
      for (const group of groups) {
        const holders = byGroup.get(group) ?? { any: undefined, named: new Map<string, Source>() };
        byGroup.set(group, holders);
        holders.any = earlier(holders.any, any, isBefore);
        for (const [name, source] of named) {
          const first = earlier(holders.named.get(name), source, isBefore);
          if (first !== undefined) holders.named.set(name, first);
        }
      }
    }
  }
  return { byVerb, others };
}

/** `pods/log` is two words. A slash at the end belongs to the first: nothing is below it. */
function split(text: string): readonly [string, string] {
  const slash = text.indexOf('/');
  return slash < 0 || slash === text.length - 1 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
}

function includesOrAll(words: readonly string[], word: string): boolean {
  return words.includes(word) || words.includes('*');
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === path || pattern === '*') return true;
  return pattern.endsWith('*') && path.startsWith(pattern.replace(/\*+$/, ''));
}
