/**
 * A new node takes no pods until somebody says that it is ready.
 */
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

export const taintNodesByCondition: AdmissionPlugin = Object.freeze({
  name: 'TaintNodesByCondition',
  looksAt: kindsOf(['', 'nodes']),
  isBuiltIn: true,
  mutate,
});

interface Taint {
  readonly key: string;
  readonly effect: string;
}

function mutate(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  if (request.operation !== 'CREATE' || request.object === undefined || !isFor(request, '', 'nodes')) return;
  const spec = request.object['spec'] as { taints?: Taint[] };
  const taint: Taint = { key: dialect.subkey('node', 'not-ready'), effect: 'NoSchedule' };
  const present = spec.taints ?? [];
  if (present.some(({ key, effect }) => key === taint.key && effect === taint.effect)) return;
  spec.taints = [...present, taint];
}
