/**
 * Warnings about how a pod chooses its node: labels with old names, and selectors that select nothing.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import { childPath, keyPath } from '../../../../meta/field-error.js';
import { labelValueProblems } from '../../../../meta/names.js';
import { labelDeprecation } from '../persistent-volume/deprecated-labels.js';
import type { NodeSelectorTerm } from '../scheduling-types.js';
import type { PodSpec } from './pod-spec.js';

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

/** Warnings about the spec at `at`; the reference server has others between the two. */
export function schedulingWarnings(
  at: string,
  spec: PodSpec,
  dialect: Dialect,
): { readonly nodes: string[]; readonly affinity: string[] } {
  const { nodeSelector = {}, affinity, topologySpreadConstraints = [] } = spec;
  // The label is named again where the path does not end in it.
  const named = (where: string, label: string) => {
    const why = labelDeprecation(label, dialect);
    return why === undefined ? [] : [`${where}: ${label} is ${why}`];
  };
  const keysOf = (where: string, { matchExpressions = [] }: NodeSelectorTerm) =>
    matchExpressions.map(({ key, values = [] }, index) => {
      const expression = keyPath(childPath(where, 'matchExpressions'), index);
      return { expression, values, warnings: named(childPath(expression, 'key'), key) };
    });
  const { [REQUIRED]: required, [PREFERRED]: preferred = [] } = affinity?.nodeAffinity ?? {};
  const nodeAt = childPath(at, 'affinity.nodeAffinity');
  const spreadAt = (index: number, field: string) =>
    childPath(keyPath(childPath(at, 'topologySpreadConstraints'), index), field);
  return {
    nodes: [
      ...Object.keys(nodeSelector).flatMap((key) => {
        const why = labelDeprecation(key, dialect);
        return why === undefined ? [] : [`${keyPath(childPath(at, 'nodeSelector'), key)}: ${why}`];
      }),
      ...(required?.nodeSelectorTerms ?? []).flatMap((term, index) =>
        keysOf(keyPath(childPath(nodeAt, `${REQUIRED}.nodeSelectorTerms`), index), term).flatMap(
          ({ warnings }) => warnings,
        ),
      ),
      // Values that no label can have are refused in what is required, and let through in what is preferred.
      ...preferred.flatMap(({ preference }, index) =>
        keysOf(childPath(keyPath(childPath(nodeAt, PREFERRED), index), 'preference'), preference).flatMap(
          ({ expression, values, warnings }) => [
            ...warnings,
            ...valueWarnings(childPath(expression, 'values'), values),
          ],
        ),
      ),
      ...topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => [
        ...named(spreadAt(index, 'topologyKey'), topologyKey),
        ...(labelSelector === undefined ? [nullSelector(spreadAt(index, 'labelSelector'))] : []),
      ]),
    ],
    affinity: podAffinityWarnings(childPath(at, 'affinity'), affinity),
  };
}

function valueWarnings(path: string, values: readonly string[]): string[] {
  return values.flatMap((value, index) =>
    labelValueProblems(value).map((why) => `${keyPath(path, index)}: ${value} is invalid, ${why}`),
  );
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
