/**
 * Validates the bound object of a TokenRequest: it must exist, and the service account must be allowed to use it.
 */
import { errors } from '../../../meta/errors.js';
import { parseApiVersion } from '../../../meta/gvk.js';
import { pathSegmentProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import type { BoundObjectReference } from '../../generated/authentication-v1.js';
import type { StrategyContext } from '../../kind.js';
import type { BoundObject, TokenClaims } from '../../tokens.js';

/** The claims of a bound token. */
export type Binding = Pick<TokenClaims, 'bound' | 'node'>;

const RESOURCES = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const satisfies Record<
  BoundObject['kind'],
  string
>;

/** Throws 400 for a kind that tokens cannot be bound to, 404 for an absent object, 409 for a different uid. */
export function readBinding(ref: BoundObjectReference, account: string, context: StrategyContext): Binding {
  const { apiVersion = '', kind = '', name = '', uid: expected = '' } = ref;
  // An invalid apiVersion counts as absent.
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  if (group !== '' || !isBindable(kind)) {
    throw errors.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const gate = 'ServiceAccountTokenNodeBinding';
  if (kind === 'Node' && !context.features.enabled(gate)) {
    throw errors.badRequest(`cannot bind token to a Node object as the "${gate}" feature-gate is disabled`);
  }
  const object = objectAt(RESOURCES[kind], name, context);
  const pod = kind === 'Pod' ? (object as ApiObject & RunningPod) : undefined;
  if (pod !== undefined && pod.spec.serviceAccountName !== account) {
    throw errors.badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    );
  }
  const { uid } = object.metadata;
  if (expected !== '' && expected !== uid) {
    const why = `the UID in the bound object reference (${expected}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw errors.conflict({ group, resource: kind }, name, why);
  }
  const bound = { kind, name, uid };
  return pod?.spec.nodeName ? { bound, node: nodeOf(pod.spec.nodeName, context) } : { bound };
}

function isBindable(kind: string): kind is BoundObject['kind'] {
  return Object.hasOwn(RESOURCES, kind);
}

interface RunningPod {
  readonly spec: { readonly serviceAccountName?: string; readonly nodeName?: string };
}

function objectAt(resource: string, name: string, { objects, namespace }: StrategyContext): ApiObject {
  if (name === '') throw errors.badRequest('Name parameter required.');
  const problems = pathSegmentProblems(name);
  if (problems.length > 0) throw errors.badRequest(`Name parameter invalid: "${name}": ${problems.join(';')}`);
  const object = objects.get({ group: '', resource, namespace: resource === 'nodes' ? '' : namespace, name });
  if (object === undefined) throw errors.notFound({ group: '', resource }, name);
  return object;
}

/** The node's name, and its uid if the node exists. */
function nodeOf(name: string, { objects }: StrategyContext): NonNullable<Binding['node']> {
  const node = objects.get({ group: '', resource: 'nodes', namespace: '', name });
  return node === undefined ? { name } : { name, uid: node.metadata.uid };
}
