/**
 * The CSIStorageCapacity kind: the available storage of a class in a topology.
 */

import { type FieldError, invalid } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { dnsSubdomainProblems, labelValueProblems } from '../../../meta/names.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type CSIStorageCapacityKind,
  type CSIStorageCapacityObject,
  csiStorageCapacityBase,
} from '../../generated/storage-v1.js';
import type { HookContext } from '../../kind.js';
import { expressionWarnings, labelDeprecation } from '../../shared/deprecated-node-labels.js';
import { immutableErrors } from '../../shared/field-rules.js';
import { goSyntaxLabelSelector } from '../../shared/go-syntax.js';
import { validateNonNegativeQuantity } from '../../shared/resources.js';

export interface CSIStorageCapacity extends CSIStorageCapacityObject {}

export const CSIStorageCapacity: CSIStorageCapacityKind<CSIStorageCapacity> = defineBuiltIn({
  ...csiStorageCapacityBase,
  names: { plural: 'csistoragecapacities' },
  lifecycle: { introducedIn: '1.24' },
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      validationOrder: ['create', 'metadata', 'update'],
      validate: fixedProblems,
    },
    create: {
      validate: (object, _context, live) => capacityProblems(object, live !== undefined && hasInvalidValue(live)),
    },
    write: { warnings },
  },
});

function warnings(
  object: CSIStorageCapacity,
  _live: CSIStorageCapacity | undefined,
  { dialect }: HookContext,
): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = object.nodeTopology ?? {};
  return [
    ...expressionWarnings('nodeTopology.matchExpressions', matchExpressions, dialect),
    ...Object.keys(matchLabels).flatMap((label) => {
      const why = labelDeprecation(label, dialect);
      return why === undefined ? [] : [`nodeTopology.matchLabels.${label}: ${why}`];
    }),
  ];
}

function capacityProblems(object: CSIStorageCapacity, allowInvalidValues: boolean): FieldError[] {
  const { nodeTopology = {}, storageClassName, capacity } = object;
  return [
    ...labelSelectorObjectErrors(nodeTopology, 'nodeTopology', { allowInvalidValues }),
    ...dnsSubdomainProblems(storageClassName).map((problem) => invalid('storageClassName', storageClassName, problem)),
    ...(capacity === undefined ? [] : validateNonNegativeQuantity('capacity', capacity)),
  ];
}

/** Updates may keep invalid label values of the live object. */
function hasInvalidValue(live: CSIStorageCapacity): boolean {
  const { nodeTopology } = live;
  const values = (nodeTopology?.matchExpressions ?? []).flatMap((expression) => expression.values ?? []);
  return values.some((value) => labelValueProblems(value).length > 0);
}

function fixedProblems(next: CSIStorageCapacity, live: CSIStorageCapacity): FieldError[] {
  const { nodeTopology, storageClassName } = next;
  return [
    ...immutableErrors(
      'nodeTopology',
      nodeTopology,
      live.nodeTopology,
      () => nodeTopology && goSyntaxLabelSelector(nodeTopology),
    ),
    ...immutableErrors('storageClassName', storageClassName, live.storageClassName),
  ];
}
