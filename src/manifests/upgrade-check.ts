/**
 * Checks which API versions of objects are deprecated or gone in a release: those of the objects, those that they refer
 * to, and those with which clients have written them.
 */
import type { Release } from '../kinds/lifecycle.js';
import { replacementIn, stateIn, versionFacts } from '../kinds/releases/api-versions.js';
import { dialects, serviceGroup } from '../meta/dialect.js';
import { isRecord } from '../util/json.js';
import { lineOf } from './field-line.js';
import { type Finding, type FindingObject, findingPlace } from './finding.js';
import { type DocumentSource, isList, type ManifestDocument, typedItem } from './read.js';
import { isServersOwn } from './read-objects.js';

/** An object and its position. */
export interface CheckedObject {
  readonly value: unknown;
  /** Absent: it is an object of a cluster. */
  readonly place?: Pick<Finding, 'file'> & { readonly source: DocumentSource };
}

/** The objects of a document; lists are split. */
export function objectsOf({ place, value, source }: ManifestDocument): CheckedObject[] {
  const { file } = findingPlace(place);
  const at = (path: string) => ({ ...(file === undefined ? {} : { file }), source: { ...source, path } });
  if (!isList(value)) return [{ value, place: at('') }];
  const list = value;
  return list.items.map((item, index) => ({ value: typedItem(list, item), place: at(`items[${index}].`) }));
}

/** The findings about all objects. Versions that CRDs among them mark as deprecated or do not serve are included. */
export function upgradeFindings(objects: readonly CheckedObject[], release: Release): Finding[] {
  const custom = new Map(objects.flatMap(({ value }) => customVersions(value)));
  return objects.flatMap((object) => objectFindings(object, release, custom));
}

type Problem = Pick<Finding, 'level' | 'rule' | 'message'>;
type Json = Readonly<Record<string, unknown>>;

function objectFindings(
  { value, place }: CheckedObject,
  release: Release,
  custom: ReadonlyMap<string, Problem>,
): Finding[] {
  if (!isRecord(value) || isServersObject(value)) return [];
  const check = (apiVersion: unknown, kind: unknown): Problem | undefined =>
    custom.get(`${apiVersion} ${kind}`) ?? versionProblem(String(apiVersion), String(kind), release);
  const found: { field: string; problem: Problem }[] = [];
  const add = (field: string, problem: Problem | undefined) => {
    if (problem !== undefined) found.push({ field, problem });
  };
  add('apiVersion', check(value['apiVersion'], value['kind']));
  for (const { field, apiVersion, kind } of references(value)) {
    const problem = check(apiVersion, kind);
    add(field, problem && { ...problem, message: `${field} refers to ${problem.message}` });
  }
  for (const { field, apiVersion, kind, writer } of writers(value)) {
    const problem = check(apiVersion, kind);
    // The object remains readable in other versions, but the client must change.
    add(field, problem && { ...problem, level: 'warning', message: `${writer} ${problem.message}` });
  }
  const object = describeObject(value);
  return found.map(({ field, problem }) => ({
    ...problem,
    field,
    object,
    ...(place === undefined
      ? {}
      : { ...(place.file === undefined ? {} : { file: place.file }), line: lineOf(place.source, field) }),
  }));
}

/** The server keeps writing its own Endpoints, whose version is deprecated; the user of the cluster cannot change that. */
function isServersObject({ kind, metadata }: Json): boolean {
  return isRecord(metadata) && isServersOwn({ kind: String(kind), metadata });
}

function describeObject({ apiVersion, kind, metadata }: Json): FindingObject {
  const { name, namespace } = isRecord(metadata) ? metadata : {};
  return {
    apiVersion: String(apiVersion),
    kind: String(kind),
    ...(typeof namespace === 'string' ? { namespace } : {}),
    ...(typeof name === 'string' ? { name } : {}),
  };
}

function versionProblem(apiVersion: string, kind: string, release: Release): Problem | undefined {
  const facts = versionFacts(apiVersion, kind);
  const what = `${apiVersion} ${kind}`;
  if (facts === undefined) return undefined;
  if (facts === 'unknown version') {
    return { level: 'warning', rule: 'unknown-kind', message: `${what}, which is not known in any release` };
  }
  const { introducedIn, deprecatedIn, removedIn } = facts;
  const replacement = replacementIn(release, facts);
  const instead = replacement === undefined ? '' : `; use ${replacement}`;
  switch (stateIn(release, facts)) {
    case 'served':
      return undefined;
    case 'deprecated': {
      const end = removedIn === undefined ? '' : ` and removed in ${removedIn}`;
      const message = `${what}, deprecated since ${deprecatedIn}${end}${instead}`;
      return { level: 'warning', rule: 'deprecated', message };
    }
    case 'removed':
      return { level: 'error', rule: 'removed', message: `${what}, removed in ${removedIn}${instead}` };
    case 'not introduced':
      return { level: 'error', rule: 'removed', message: `${what}, which appears in ${introducedIn}` };
  }
}

/** The versions of a CRD that are deprecated or not served, by `apiVersion kind`. */
function customVersions(value: unknown): [string, Problem][] {
  if (!isRecord(value) || value['kind'] !== 'CustomResourceDefinition' || !isRecord(value['spec'])) return [];
  const isDefinition = dialects.some(({ group }) =>
    String(value['apiVersion']).startsWith(`${group(serviceGroup('apiextensions'))}/`),
  );
  const { group, names, versions } = value['spec'];
  if (!isDefinition || !isRecord(names) || !Array.isArray(versions)) return [];
  return versions.filter(isRecord).flatMap(({ name, served, deprecated }): [string, Problem][] => {
    const what = `${group}/${name} ${names['kind']}`;
    if (served === false) {
      return [[what, { level: 'error', rule: 'removed', message: `${what}, which its CRD does not serve` }]];
    }
    if (deprecated !== true) return [];
    return [[what, { level: 'warning', rule: 'deprecated', message: `${what}, which its CRD marks as deprecated` }]];
  });
}

interface Reference {
  readonly field: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** All maps inside an object that have an apiVersion and a kind: owners, scale targets, embedded objects. */
function references(object: Json): Reference[] {
  const found: Reference[] = [];
  const open: { readonly path: string; readonly value: unknown }[] = entriesOf('', object);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path, value } = next;
    if (path === 'metadata.managedFields') continue;
    if (isRecord(value)) {
      const { apiVersion, kind } = value;
      if (typeof apiVersion === 'string' && typeof kind === 'string') found.push({ field: path, apiVersion, kind });
    }
    if (typeof value === 'object' && value !== null) open.push(...entriesOf(path, value));
  }
  return found.reverse();
}

function entriesOf(path: string, value: object): { readonly path: string; readonly value: unknown }[] {
  if (Array.isArray(value)) return value.map((item, index) => ({ path: `${path}[${index}]`, value: item }));
  return Object.entries(value).map(([key, item]) => {
    const step = /^[\w-]+$/.test(key) ? (path === '' ? key : `.${key}`) : `["${key}"]`;
    return { path: `${path}${step}`, value: item };
  });
}

/** The versions with which clients have written the object, other than its own. */
function writers({ apiVersion: own, kind, metadata }: Json): (Reference & { readonly writer: string })[] {
  const { managedFields, annotations } = isRecord(metadata) ? metadata : {};
  const managers = (Array.isArray(managedFields) ? managedFields : []).filter(isRecord).map((entry, index) => ({
    field: `metadata.managedFields[${index}]`,
    apiVersion: String(entry['apiVersion']),
    kind: String(kind),
    writer: `the manager ${entry['manager']} wrote it as`,
  }));
  const applied = dialects.flatMap((dialect) => {
    const key = dialect.subkey('kubectl', 'last-applied-configuration');
    const text = isRecord(annotations) ? annotations[key] : undefined;
    const last = typeof text === 'string' ? parseObject(text) : undefined;
    if (last === undefined) return [];
    const field = `metadata.annotations["${key}"]`;
    const type = { apiVersion: String(last['apiVersion']), kind: String(last['kind']) };
    return [{ field, ...type, writer: 'kubectl applied it as' }];
  });
  const others = [...managers, ...applied].filter(({ apiVersion }) => apiVersion !== own);
  return others.filter((each, index) => others.findIndex((other) => sameText(other, each)) === index);
}

function sameText(a: Reference & { readonly writer: string }, b: Reference & { readonly writer: string }): boolean {
  return a.writer === b.writer && a.apiVersion === b.apiVersion;
}

function parseObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    // An annotation may contain any text.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
