/**
 * What was read of policies and their bindings, for each cluster, until either changes.
 */
import type { GroupResource } from '../../meta/gvk.js';
import type { ClusterView } from '../types.js';

type Changes = Pick<ClusterView, 'changes'>;

/** A reader of policies that reads again only when one of the two resources has changed. */
export function readOncePerChange<View extends Changes, Policy>(
  resources: { readonly policies: GroupResource; readonly bindings: GroupResource },
  read: (view: View) => readonly Policy[],
): (view: View) => readonly Policy[] {
  const known = new WeakMap<View, { policies: number; bindings: number; read: readonly Policy[] }>();
  return (view) => {
    const policies = view.changes(resources.policies);
    const bindings = view.changes(resources.bindings);
    let last = known.get(view);
    if (last === undefined || last.policies !== policies || last.bindings !== bindings) {
      last = { policies, bindings, read: read(view) };
      known.set(view, last);
    }
    return last.read;
  };
}
