/**
 * The parameters of a policy: objects of any kind that the cluster serves, named or selected by a binding.
 */
import type { ParamKind, ParamRef } from '../../kinds/admissionregistration/v1/policy-parts.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { parseApiVersion } from '../../meta/gvk.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import type { ClusterView } from '../types.js';

/** Something about a policy or a binding that nobody can work with. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
}

type Params = readonly (Readonly<Record<string, unknown>> | undefined)[];

type Kind = DeepReadonly<ParamKind>;
type Ref = DeepReadonly<ParamRef>;

/** Throws a ConfigurationError for a kind that is not served. */
export function servedParamKind(paramKind: Kind, view: Pick<ClusterView, 'kindNamed'>): ServedKind {
  const { apiVersion = '', kind = '' } = paramKind;
  const gv = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  const served = view.kindNamed({ ...gv, kind });
  if (served !== undefined) return served;
  const shown = `${gv.group}/${gv.version}, Kind=${kind}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${shown}'`);
}

/** Params of which there are none, but which a policy is evaluated with. */
const ONCE_WITHOUT: Params = Object.freeze([undefined]);

/**
 * What a policy is evaluated with, one after the other: nothing once where it has no parameters, or its binding names
 * none; not at all where none are found and that is all right. `namespace`: of the request. Throws a ConfigurationError.
 */
export function findParams(
  about: { readonly kind: Kind | undefined; readonly served: ServedKind | undefined; readonly ref: Ref | undefined },
  namespace: string,
  view: Pick<ClusterView, 'get' | 'list' | 'convert' | 'kindNamed'>,
): MaybePromise<Params> {
  const { kind, served, ref } = about;
  if (kind === undefined || served === undefined || ref === undefined) return ONCE_WITHOUT;
  const place = namespaceOf(ref, served, namespace);
  if (served.kind.virtual !== undefined) {
    // There is nothing that could be watched, so that the reference server waits for it in vain.
    const { apiVersion = '', kind: name = '' } = kind;
    const shown = `&ParamKind{APIVersion:${apiVersion},Kind:${name},}`;
    throw new ConfigurationError(`paramKind kind \`${shown}\` not yet synced to use for admission`);
  }
  if (!served.namespaced && ref.namespace) {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const found = ref.name ? named(ref.name, place, { served, view }) : selected(ref, place, { served, view });
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  const stored = served.storageKind ?? served;
  const params = found.map((object) => (stored === served ? object : view.convert(object, stored, served)));
  return params.some(isPromise)
    ? Promise.all(params).then((all) => all.map((object) => shownParam(object, served)))
    : (params as ApiObject[]).map((object) => shownParam(object, served));
}

function namespaceOf({ namespace: given = '' }: Ref, { namespaced }: ServedKind, requested: string): string {
  if (!namespaced) return '';
  if (given !== '') return given;
  if (requested !== '') return requested;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

interface Where {
  readonly served: ServedKind;
  readonly view: Pick<ClusterView, 'get' | 'list'>;
}

function named(name: string, namespace: string, { served, view }: Where): readonly ApiObject[] {
  const found = view.get({ ...addressOf(served), namespace, name });
  return found === undefined ? [] : [found];
}

function selected({ selector }: Ref, namespace: string, { served, view }: Where): readonly ApiObject[] {
  const wanted = labelSelectorFromObject(selector);
  const all = served.namespaced ? view.list(addressOf(served), namespace) : view.list(addressOf(served));
  return all.filter(({ metadata }) => matchesLabels(wanted, metadata.labels));
}

function addressOf(served: ServedKind): { readonly group: string; readonly resource: string } {
  const { kind } = served.storageKind ?? served;
  return { group: kind.group, resource: kind.names.plural };
}

/** Groups whose objects are read as they are, like those of custom kinds. */
const READ_WHOLE: ReadonlySet<string> = new Set([serviceGroup('apiextensions'), serviceGroup('apiregistration')]);

/** Whoever reads parameters of built-in kinds leaves out who owns what in them. */
function shownParam(object: ApiObject, { kind }: ServedKind): Readonly<Record<string, unknown>> {
  if (kind.representation !== 'struct' || READ_WHOLE.has(kind.group))
    return object as unknown as Record<string, unknown>;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}
