/**
 * A pod stays on a node that is not ready or cannot be reached for five minutes, unless it says otherwise.
 */
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

const SECONDS = 300;

export const defaultTolerationSeconds: AdmissionPlugin = Object.freeze({
  name: 'DefaultTolerationSeconds',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  mutate,
});

interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

function mutate(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  if (!isFor(request, '', 'pods') || request.object === undefined) return;
  const spec = request.object['spec'] as { tolerations?: Toleration[] };
  for (const name of ['not-ready', 'unreachable']) {
    const key = dialect.subkey('node', name);
    const present = spec.tolerations ?? [];
    if (present.some((toleration) => covers(toleration, key))) continue;
    spec.tolerations = [...present, { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: SECONDS }];
  }
}

function covers({ key = '', effect = '' }: Toleration, taint: string): boolean {
  return (key === taint || key === '') && (effect === 'NoExecute' || effect === '');
}
