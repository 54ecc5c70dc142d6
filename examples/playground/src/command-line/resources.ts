/**
 * Which kinds there are, from the server's own discovery, and which of them a word means: `po`, `pods`, `pod`, `Pod`,
 * `deployments.apps`, `deployment.v1.apps`, `all`.
 */
import { at, type Json, listAt, textAt } from './json.js';
import type { Server } from './server.js';
import { LineError } from './words.js';

export interface Resource {
  /** Empty for the oldest group. */
  readonly group: string;
  readonly version: string;
  /** `deployments`. */
  readonly name: string;
  readonly singular: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Whether its version is the one that its group prefers for it. */
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

  /** What is there at this moment: definitions add to it and take away. */
  static async discover(server: Server): Promise<Resources> {
    const root = await server.json({ path: '/api', accept: DISCOVERY });
    const groups = await server.json({ path: '/apis', accept: DISCOVERY });
    return new Resources([...listAt(root, 'items'), ...listAt(groups, 'items')].flatMap(resourcesOf));
  }

  /** The kinds that a word means; several for a category such as `all`. Throws a LineError for a word that means none. */
  named(word: string): readonly Resource[] {
    const single = this.find(word);
    if (single !== undefined) return [single];
    const category = this.preferred().filter(({ categories }) => categories.includes(word.toLowerCase()));
    if (category.length > 0) return category;
    throw new LineError(`error: the server doesn't have a resource type "${word}"`);
  }

  /** The one kind that a word means. */
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

  /** By what a document says of itself. */
  ofKind(apiVersion: string, kind: string): Resource | undefined {
    return this.all.find((resource) => apiVersionOf(resource) === apiVersion && resource.kind === kind);
  }

  /** One version of each. */
  preferred(): readonly Resource[] {
    return this.all.filter(({ isPreferred }) => isPreferred);
  }
}

/** Where objects of a kind are served. */
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

/** `deployment.apps`, as outputs name kinds. */
export function typeName({ group, kind }: Resource): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}

/** `deployments.apps`, as refusals name kinds. */
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

/** The oldest group goes before others, whole names before short ones, preferred versions before others. */
function rank({ group, name, singular, kind, isPreferred }: Resource, word: string): number {
  const isWhole = name === word || singular === word || kind.toLowerCase() === word;
  // The group of events is served twice; its younger form is the same objects under other names.
  return (isWhole ? 0 : 100) + (isPreferred ? 0 : 10) + (group === '' ? 0 : 1);
}
