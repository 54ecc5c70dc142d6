/**
 * Many single permissions as few rules, with nothing in them that was not there: rules are merged only where their
 * product is exactly what was asked for.
 */
import type { AccessRule } from '../protocol/access.js';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** Each rule is about one verb, one group, one resource and at most one name, or one verb and one URL. */
export function smallestRules(single: readonly AccessRule[]): AccessRule[] {
  const resources = merge(
    single.filter(({ nonResourceURLs }) => nonResourceURLs === undefined),
    ['verbs', 'resourceNames', 'resources', 'apiGroups'],
  );
  const urls = merge(
    single.filter(({ nonResourceURLs }) => nonResourceURLs !== undefined),
    ['verbs', 'nonResourceURLs'],
  );
  return [...resources, ...urls].map(ordered).sort((left, right) => (sortKey(left) < sortKey(right) ? -1 : 1));
}

type Field = 'verbs' | 'resourceNames' | 'resources' | 'apiGroups' | 'nonResourceURLs';

/** One field after the other: rules that agree in all the other fields become one. */
function merge(rules: readonly AccessRule[], fields: readonly Field[]): AccessRule[] {
  let merged = [...rules];
  for (const field of fields) {
    const groups = new Map<string, AccessRule>();
    for (const rule of merged) {
      const others = fields.filter((other) => other !== field).map((other) => [...(rule[other] ?? [])].sort());
      // A rule without names is about all of them, and never one with one that has some.
      const key = JSON.stringify([others, field === 'resourceNames' ? rule.resourceNames === undefined : 0]);
      const known = groups.get(key);
      groups.set(key, known === undefined ? rule : { ...known, ...union(field, known, rule) });
    }
    merged = [...groups.values()];
  }
  return merged.filter((rule) => !merged.some((other) => other !== rule && isWithin(rule, other)));
}

function union(field: Field, left: AccessRule, right: AccessRule): Partial<Record<Field, readonly string[]>> {
  const words = [...new Set([...(left[field] ?? []), ...(right[field] ?? [])])];
  return words.length === 0 ? {} : { [field]: words };
}

/** What a rule without names grants already. */
function isWithin(rule: AccessRule, other: AccessRule): boolean {
  if (rule.resourceNames === undefined || other.resourceNames !== undefined) return false;
  const within = (field: Field) => (rule[field] ?? []).every((word) => (other[field] ?? []).includes(word));
  return within('verbs') && within('resources') && within('apiGroups');
}

function ordered({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: AccessRule): AccessRule {
  return {
    ...(apiGroups === undefined ? {} : { apiGroups: [...apiGroups].sort() }),
    ...(resources === undefined ? {} : { resources: [...resources].sort() }),
    ...(resourceNames === undefined ? {} : { resourceNames: [...resourceNames].sort() }),
    ...(nonResourceURLs === undefined ? {} : { nonResourceURLs: [...nonResourceURLs].sort() }),
    verbs: [...verbs].sort((left, right) => rank(left) - rank(right) || (left < right ? -1 : 1)),
  };
}

function rank(verb: string): number {
  const index = VERBS.indexOf(verb);
  return index === -1 ? VERBS.length : index;
}

function sortKey(rule: AccessRule): string {
  return JSON.stringify([rule.apiGroups ?? ['~'], rule.resources ?? [], rule.nonResourceURLs ?? []]);
}
