/**
 * The error for clients in process that use a kind which is not served: it names the kind and the remedy.
 */
import { failure, type StatusError } from '../meta/errors.js';
import { type GroupVersionResource, qualifiedResource } from '../meta/gvk.js';
import type { Registry } from '../registry/registry.js';

export function unknownResource(registry: Registry, wanted: GroupVersionResource): StatusError {
  const { group, version, resource } = wanted;
  const what = qualifiedResource({ group, resource });
  return notFound(
    registry.unavailableReason(wanted) ?? `${what} in version ${version} is not installed (cluster.install)`,
  );
}

export function unknownKind(apiVersion: string, kind: string): StatusError {
  return notFound(`${kind} in ${apiVersion} is not served here`);
}

function notFound(why: string): StatusError {
  const message = `the server could not find the requested resource: ${why}`;
  return failure({ reason: 'NotFound', message, details: {} });
}
