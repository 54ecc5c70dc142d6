/**
 * The scale subresource of an autoscaler's target.
 */
import type { SubresourceApi } from '../../client/api.js';
import { Deployment } from '../../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../../kinds/apps/v1/replica-set.js';
import { StatefulSet } from '../../kinds/apps/v1/stateful-set.js';
import type { Scale } from '../../kinds/autoscaling/v1/scale.js';
import { ReplicationController } from '../../kinds/core/v1/replication-controller.js';
import type { Kind } from '../../kinds/kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { ControllerContext } from '../runtime/controller.js';

export interface TargetReference {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly name: string;
}

export type ScaleApi = SubresourceApi<typeof Scale>;
type Scalable = Kind<ApiObject, ApiObject, 'Namespaced', 'scale'>;

/** The scalable kinds that are assumed with a remote server, whose kinds are unknown. */
const ASSUMED_KINDS: readonly Kind[] = [Deployment, ReplicaSet, StatefulSet, ReplicationController];

/** The scale subresource of the referenced kind. Throws with the reference server's message if there is none. */
export function scalesOf(
  { client, dialect, host }: ControllerContext,
  { apiVersion = '', kind, name }: TargetReference,
  namespace: string,
): ScaleApi {
  const parts = apiVersion.split('/');
  if (parts.length > 2) throw new Error(`unexpected GroupVersion string: ${apiVersion}`);
  const group = parts.length === 2 ? (parts[0] ?? '') : '';
  const candidates = (host?.kinds().map((served) => served.kind) ?? ASSUMED_KINDS).filter(
    (candidate) => candidate.kind === kind && dialect.group(candidate.group) === group,
  );
  if (candidates.length === 0)
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`);
  const scalable = candidates.find(isScalable);
  if (scalable === undefined) {
    // A custom resource path accepts any subresource name, so a missing one is NotFound for the object.
    const custom = candidates.find(
      ({ representation, scope }) => representation === 'document' && scope === 'Namespaced',
    );
    if (custom === undefined) throw new Error('the server could not find the requested resource');
    throw errors.notFound({ group, resource: custom.names.plural }, name);
  }
  return client.api(scalable, namespace).subresource('scale');
}

function isScalable(kind: Kind): kind is Scalable {
  return kind.scope === 'Namespaced' && Object.hasOwn(kind.subresources, 'scale');
}
