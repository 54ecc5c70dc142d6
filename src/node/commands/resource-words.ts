/**
 * Finds the resources and objects that arguments name: `pods`, `po`, `Pod`, `deployments.apps`, `deployment.v1.apps`, `all`,
 * `configmap/web`.
 */
import type { ApiResource } from '../../http/transport/discovery.js';
import { UsageError } from './command.js';

/** A resource, and the name of an object if one is given. */
export interface NamedTarget {
  readonly resource: ApiResource;
  readonly name?: string;
}

/**
 * The targets of positional arguments: `TYPE[,TYPE…] [NAME…]` or `TYPE/NAME…`. A category such as `all` stands for several
 * types. Throws UsageError.
 */
export function readTargets(resources: readonly ApiResource[], words: readonly string[]): readonly NamedTarget[] {
  const [types = '', ...names] = words;
  if (types === '') throw new UsageError('a resource is missing, such as pods or configmaps/web');
  if (types.includes('/')) return words.map((word) => readTypeAndName(resources, word));
  const mixed = names.find((name) => name.includes('/'));
  if (mixed !== undefined) throw new UsageError(`"${mixed}" has a type, but "${types}" is a type, too`);
  const found = types.split(',').flatMap((type) => findResources(resources, type));
  return found.flatMap((resource) =>
    names.length === 0 ? [{ resource }] : names.map((name) => ({ resource, name: checkedName(name) })),
  );
}

function readTypeAndName(resources: readonly ApiResource[], word: string): NamedTarget {
  const [type = '', name = '', ...rest] = word.split('/');
  if (type === '' || name === '' || rest.length > 0) throw new UsageError(`"${word}" is not TYPE/NAME`);
  const [resource, ...others] = findResources(resources, type);
  if (resource === undefined || others.length > 0) throw new UsageError(`"${type}" is not one type`);
  return { resource, name };
}

function checkedName(name: string): string {
  if (name === '') throw new UsageError('a name is empty');
  return name;
}

/** The resources that a word names; several for a category. Throws UsageError for an unknown word. */
export function findResources(resources: readonly ApiResource[], word: string): readonly ApiResource[] {
  const single = findResource(resources, word.toLowerCase());
  if (single !== undefined) return [single];
  const ofCategory = resources.filter(
    ({ categories, isPreferred }) => isPreferred && categories.includes(word.toLowerCase()),
  );
  if (ofCategory.length > 0) return ofCategory;
  throw new UsageError(`the server has no resource "${word}"`);
}

function findResource(resources: readonly ApiResource[], word: string): ApiResource | undefined {
  const [name = '', ...rest] = word.split('.');
  const matching = resources
    .filter((resource) => namesOf(resource).includes(name) || resource.shortNames.includes(name))
    .sort((left, right) => rank(left, name) - rank(right, name));
  if (rest.length === 0) return matching[0];
  const group = rest.join('.');
  const [version, ...groupOfVersion] = rest;
  return (
    matching.find(({ gvr }) => gvr.group === group) ??
    matching.find(({ gvr }) => gvr.version === version && gvr.group === groupOfVersion.join('.')) ??
    matching.find(({ gvr }) => gvr.group.startsWith(`${group}.`))
  );
}

function namesOf({ gvr, gvk, singular }: ApiResource): readonly string[] {
  return [gvr.resource, singular, gvk.kind.toLowerCase()];
}

/** Whole names before short names, preferred versions before others, the core group before others. */
function rank(resource: ApiResource, word: string): number {
  const { gvr, isPreferred } = resource;
  return (namesOf(resource).includes(word) ? 0 : 4) + (isPreferred ? 0 : 2) + (gvr.group === '' ? 0 : 1);
}

/** `configmap/web`, `deployment.apps/web`: how objects are named in the output. */
export function objectName(type: { readonly group: string; readonly kind: string }, name: string): string {
  return `${type.kind.toLowerCase()}${type.group === '' ? '' : `.${type.group}`}/${name}`;
}
