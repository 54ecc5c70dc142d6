/**
 * Warnings about how a pod chooses its node: labels with old names, and selectors that select nothing.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, keyPath } from '../../../../meta/field-error.js';
import type { NodeSelectorTerm } from '../scheduling-types.js';
import type { PodSpec } from './pod-spec.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Warnings about the spec at `at`; the reference server has others between the two. */
export function schedulingWarnings(
  at: string,
  spec: PodSpec,
  dialect: Dialect,
): { readonly labels: string[]; readonly selectors: string[] } {
  const { nodeSelector = {}, affinity, topologySpreadConstraints = [] } = spec;
  const old = oldLabels(dialect);
  const warn = (where: string, label: string) => {
    const why = old.get(label);
    return why === undefined ? [] : [`${where}: ${why}`];
  };
  const ofTerm = (where: string, { matchExpressions = [] }: NodeSelectorTerm) =>
    matchExpressions.flatMap(({ key }, index) =>
      warn(childPath(keyPath(childPath(where, 'matchExpressions'), index), 'key'), key),
    );
  const { [REQUIRED]: required, [PREFERRED]: preferred = [] } = affinity?.nodeAffinity ?? {};
  const nodeAt = childPath(at, 'affinity.nodeAffinity');
  const spreadAt = (index: number, field: string) =>
    childPath(keyPath(childPath(at, 'topologySpreadConstraints'), index), field);
  return {
    labels: [
      ...Object.keys(nodeSelector).flatMap((key) => warn(keyPath(childPath(at, 'nodeSelector'), key), key)),
      ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
        ofTerm(keyPath(childPath(nodeAt, `${REQUIRED}.nodeSelectorTerms`), index), term),
      ),
      ...preferred.flatMap(({ preference }, index) =>
        ofTerm(childPath(keyPath(childPath(nodeAt, PREFERRED), index), 'preference'), preference),
      ),
      ...topologySpreadConstraints.flatMap(({ topologyKey }, index) =>
        warn(spreadAt(index, 'topologyKey'), topologyKey),
      ),
    ],
    selectors: [
      ...topologySpreadConstraints.flatMap(({ labelSelector }, index) =>
        labelSelector === undefined ? [nullSelector(spreadAt(index, 'labelSelector'))] : [],
      ),
      ...podAffinityWarnings(childPath(at, 'affinity'), affinity),
    ],
  };
}

function podAffinityWarnings(at: string, affinity: PodSpec['affinity']): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((field) => {
    const { [REQUIRED]: terms = [], [PREFERRED]: weighted = [] } = affinity?.[field] ?? {};
    const path = childPath(at, field);
    return [
      ...terms.flatMap(({ labelSelector }, index) =>
        labelSelector === undefined
          ? [nullSelector(childPath(keyPath(childPath(path, REQUIRED), index), 'labelSelector'))]
          : [],
      ),
      ...weighted.flatMap(({ podAffinityTerm }, index) =>
        podAffinityTerm.labelSelector === undefined
          ? [nullSelector(childPath(keyPath(childPath(path, PREFERRED), index), 'podAffinityTerm.labelSelector'))]
          : [],
      ),
    ];
  });
}

function nullSelector(where: string): string {
  return `${where}: a null labelSelector results in matching no pod`;
}

function oldLabels(dialect: Dialect): ReadonlyMap<string, string> {
  const since = (version: string, label: string) => `deprecated since ${version}; use "${label}" instead`;
  return new Map([
    [dialect.subkey('beta', 'arch'), since('v1.14', dialect.key('arch'))],
    [dialect.subkey('beta', 'os'), since('v1.14', dialect.key('os'))],
    [dialect.subkey('failure-domain.beta', 'region'), since('v1.17', dialect.subkey('topology', 'region'))],
    [dialect.subkey('failure-domain.beta', 'zone'), since('v1.17', dialect.subkey('topology', 'zone'))],
    [dialect.subkey('beta', 'instance-type'), since('v1.17', dialect.subkey('node', 'instance-type'))],
  ]);
}
