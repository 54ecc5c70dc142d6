/**
 * Finds the parameters of a policy: objects of any served kind, named or selected by a binding.
 */

import type { ParamKind, ParamRef } from '../../kinds/generated/admissionregistration-v1.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { parseApiVersion } from '../../meta/gvk.js';
import { labelSelectorFromObject, matchesLabels } from '../../meta/labels.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import type { ClusterView } from '../types.js';

/** The configuration of a policy or a binding cannot be used. */
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
  const text = `${gv.group}/${gv.version}, Kind=${kind}`;
  throw new ConfigurationError(`failed to find resource referenced by paramKind: '${text}'`);
}

/** A single evaluation without parameter. */
const ONCE_WITHOUT: Params = Object.freeze([undefined]);

/**
 * The parameters to evaluate a policy with, one after the other. A policy without parameters, or a binding without a
 * reference, is evaluated once without; an empty list means no evaluation. `namespace` is that of the request. Throws a
 * ConfigurationError.
 */
export function findParams(
  reference: {
    readonly kind: Kind | undefined;
    readonly served: ServedKind | undefined;
    readonly ref: Ref | undefined;
  },
  namespace: string,
  view: Pick<ClusterView, 'get' | 'list' | 'convert' | 'kindNamed'>,
): MaybePromise<Params> {
  const { kind, served, ref } = reference;
  if (kind === undefined || served === undefined || ref === undefined) return ONCE_WITHOUT;
  const paramNamespace = paramNamespaceOf(ref, served, namespace);
  if (served.kind.virtual !== undefined) {
    // Such kinds cannot be watched, so the reference server's informer for them never syncs.
    // upstream: apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go CollectParams
    const { apiVersion = '', kind: name = '' } = kind;
    const text = `&ParamKind{APIVersion:${apiVersion},Kind:${name},}`;
    throw new ConfigurationError(`paramKind kind \`${text}\` not yet synced to use for admission`);
  }
  if (!served.namespaced && ref.namespace) {
    throw new ConfigurationError('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
  }
  const found = ref.name
    ? paramByName(ref.name, paramNamespace, { served, view })
    : selectedParams(ref, paramNamespace, { served, view });
  if (found.length === 0 && ref.parameterNotFoundAction === 'Deny') {
    throw new ConfigurationError('no params found for policy binding with `Deny` parameterNotFoundAction');
  }
  const stored = served.storageKind ?? served;
  const params = found.map((object) => (stored === served ? object : view.convert(object, stored, served)));
  return params.some(isPromise)
    ? Promise.all(params).then((all) => all.map((object) => paramValue(object, served)))
    : (params as ApiObject[]).map((object) => paramValue(object, served));
}

function paramNamespaceOf({ namespace: given = '' }: Ref, { namespaced }: ServedKind, requested: string): string {
  if (!namespaced) return '';
  if (given !== '') return given;
  if (requested !== '') return requested;
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  );
}

interface ParamSource {
  readonly served: ServedKind;
  readonly view: Pick<ClusterView, 'get' | 'list'>;
}

function paramByName(name: string, namespace: string, { served, view }: ParamSource): readonly ApiObject[] {
  const found = view.get({ ...addressOf(served), namespace, name });
  return found === undefined ? [] : [found];
}

function selectedParams({ selector }: Ref, namespace: string, { served, view }: ParamSource): readonly ApiObject[] {
  const wanted = labelSelectorFromObject(selector);
  const all = served.namespaced ? view.list(addressOf(served), namespace) : view.list(addressOf(served));
  return all.filter(({ metadata }) => matchesLabels(wanted, metadata.labels));
}

function addressOf(served: ServedKind): { readonly group: string; readonly resource: string } {
  const { kind } = served.storageKind ?? served;
  return { group: kind.group, resource: kind.names.plural };
}

/** Groups whose objects are read with managedFields, like custom resources. */
const READ_WHOLE: ReadonlySet<string> = new Set([serviceGroup('apiextensions'), serviceGroup('apiregistration')]);

/**
 * The reference server's informers for built-in kinds drop managedFields.
 * upstream: pkg/controlplane/apiserver/config.go BuildGenericConfig
 */
function paramValue(object: ApiObject, { kind }: ServedKind): Readonly<Record<string, unknown>> {
  if (kind.representation !== 'struct' || READ_WHOLE.has(kind.group)) return object;
  const { managedFields: _owners, ...metadata } = object.metadata;
  return { ...object, metadata };
}
