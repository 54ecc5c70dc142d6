/**
 * The namespace that expressions of policies see.
 */
import { errors } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { MatchedRequest, MatchView } from './types.js';

/** A namespace is in none, though its requests name one: itself. Throws the 404 of one that is missing. */
export function namespaceOf({ namespace, objectKind }: MatchedRequest, view: MatchView): ApiObject | undefined {
  const { group, version, kind } = objectKind;
  if (namespace === '' || (group === '' && version === 'v1' && kind === 'Namespace')) return undefined;
  const found = view.namespace(namespace);
  if (found === undefined) throw errors.notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}
