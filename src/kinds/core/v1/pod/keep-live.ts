/**
 * For addresses that change one part of a pod: the rest stays as it is, metadata included.
 */
import type { ApiObject, DraftMeta, DraftObject } from '../../../../meta/object.js';
import { keepLive } from '../../../shared/strategies.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';

/** Changes the draft into the live object with this spec. What the client claims to have seen stays for the check. */
export function keepAllBut(draft: DraftObject, live: ApiObject, spec: PodSpec): void {
  keepLive(draft, live, ['status']);
  draft['spec'] = spec;
  const from = live.metadata as unknown as DraftMeta;
  const to = draft.metadata as Record<string, unknown>;
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const) {
    if (from[field] === undefined) delete to[field];
    else to[field] = from[field];
  }
}
