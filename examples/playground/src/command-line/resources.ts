/**
 * The served resources, from discovery, and the lookup of a resource by a word: `po`, `pods`, `pod`, `Pod`,
 * `deployments.apps`, `deployment.v1.apps`, `all`.
 */
import { at, type Json, listAt, textAt } from './json.js';
import type { Server } from './server.js';
import { LineError } from './split-words.js';

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The plural name: `deployments`. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Whether its version is the preferred one of its group. */
  readonly isPreferred: boolean;
}

export interface Place {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

export class Resources {
  readonly all: readonly Resource[];

  constructor(all: readonly Resource[]) {
    this.all = all;
  }

  /** Reads discovery. The result changes when CRDs are created or deleted. */
  static async discover(server: Server): Promise<Resources> {
    const root = await server.json({ path: '/api', accept: DISCOVERY });
    const groups = await server.json({ path: '/apis', accept: DISCOVERY });
    return new Resources([...listAt(root, 'items'), ...listAt(groups, 'items')].flatMap(resourcesOf));
  }

  /** The resources that a word names; several for a category such as `all`. Throws a LineError for an unknown word. */
  named(word: string): readonly Resource[] {
    const single = this.find(word);
    if (single !== undefined) return [single];
    const category = this.preferred().filter(({ categories }) => categories.includes(word.toLowerCase()));
    if (category.length > 0) return category;
    throw new LineError(`error: the server doesn't have a resource type "${word}"`);
  }

  /** The one resource that a word names. */
  one(word: string): Resource {
    const [resource] = this.named(word);
    if (resource === undefined) throw new LineError(`error: the server doesn't have a resource type "${word}"`);
    return resource;
  }

  find(word: string): Resource | undefined {
    const [name = '', ...rest] = word.toLowerCase().split('.');
    const matching = this.all.filter((resource) => namesOf(resource).includes(name));
    const byPreference = [...matching].sort((left, right) => rank(left, name) - rank(right, name));
    if (rest.length === 0) return byPreference[0];
    const group = rest.join('.');
    const [version = '', ...groupOfVersion] = rest;
    return (
      byPreference.find((resource) => resource.group === group) ??
      byPreference.find((resource) => resource.version === version && resource.group === groupOfVersion.join('.')) ??
      byPreference.find((resource) => resource.group.startsWith(`${group}.`))
    );
  }

  /** The resource of a document's `apiVersion` and `kind`. */
  ofKind(apiVersion: string, kind: string): Resource | undefined {
    return this.all.find((resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind);
  }

  /** Each resource in one version. */
  preferred(): readonly Resource[] {
    return this.all.filter(({ isPreferred }) => isPreferred);
  }
}

/** The URL path of a collection or an object. */
export function pathOf(resource: Resource, { namespace, name, subresource }: Place = {}): string {
  const { group, version } = resource;
  const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const within = resource.isNamespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const one = name === undefined ? '' : `/${encodeURIComponent(name)}`;
  return `${base}${within}/${resource.name}${one}${subresource === undefined ? '' : `/${subresource}`}`;
}

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `deployment.apps`, as kubectl's output names types. */
export function typeName({ group, kind }: Resource): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

/** `deployments.apps`, as error messages name types. */
export function qualifiedName({ group, name }: Resource): string {
  return group === '' ? name : `${name}.${group}`;
}

const DISCOVERY =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.orch.io;v=v2;as=APIGroupDiscoveryList,application/json';

function resourcesOf(group: unknown): readonly Resource[] {
  const seen = new Set<string>();
  return listAt(group, 'versions').flatMap((version) =>
    listAt(version, 'resources').map((resource) => {
      const name = textAt(resource, 'resource');
      const isPreferred = !seen.has(name);
      seen.add(name);
      return {
        group: textAt(group, 'metadata', 'name'),
        version: textAt(version, 'version'),
        name,
        singular: textAt(resource, 'singularResource'),
        kind: textAt(resource, 'responseKind', 'kind'),
        isNamespaced: at(resource, 'scope') === 'Namespaced',
        shortNames: texts(resource as Json, 'shortNames'),
        categories: texts(resource as Json, 'categories'),
        verbs: texts(resource as Json, 'verbs'),
        subresources: listAt(resource, 'subresources').map((each) => textAt(each, 'subresource')),
        isPreferred,
      };
    }),
  );
}

function texts(value: Json, key: string): readonly string[] {
  return listAt(value, key).map(String);
}

function namesOf({ name, singular, kind, shortNames }: Resource): readonly string[] {
  return [name, singular, kind.toLowerCase(), ...shortNames];
}

/** Sorts candidates: full names before short names, preferred versions before others, the core group before others. */
function rank({ group, name, singular, kind, isPreferred }: Resource, word: string): number {
  const isWhole = name === word || singular === word || kind.toLowerCase() === word;
  // Events are served in two groups: `events` means the core group's.
  return (isWhole ? 0 : 100) + (isPreferred ? 0 : 10) + (group === '' ? 0 : 1);
}
