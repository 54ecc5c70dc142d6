/**
 * The NetworkPolicy kind: the allowed traffic of the selected pods. spec: NetworkPolicy
 */
import { serviceGroup } from '../../../../meta/dialect.js';
import { labelSelectorFromObject, printLabelSelector } from '../../../../meta/labels.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../../define-kind.js';
import {
  type NetworkPolicyBody,
  type NetworkPolicyBodyInput,
  networkPolicyBody,
} from '../../../generated/networking-v1.js';
import type { Kind } from '../../../kind.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/common-columns.js';
import { specGeneration } from '../../../shared/strategies.js';
import { networkPolicyProblems, networkPolicyWarnings } from './validate.js';

export interface NetworkPolicy extends ObjectBase, NetworkPolicyBody {}
export interface NetworkPolicyInput extends InputBase, NetworkPolicyBodyInput {}

export const NetworkPolicy: Kind<NetworkPolicy, NetworkPolicyInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('networking')}/v1`,
  kind: 'NetworkPolicy',
  scope: 'Namespaced',
  names: { shortNames: ['netpol'] },
  body: networkPolicyBody,
  strategy: {
    write: { generation: specGeneration, warnings: (object) => networkPolicyWarnings(object.spec) },
    update: {
      metadataValidation: 'inValidate',
      // The reference server validates an update first as a new object and then as an update.
      validate: (next, _live, _context, metadata) => {
        const problems = networkPolicyProblems(next.spec);
        return [...metadata.forCreate(), ...problems, ...metadata.forUpdate(), ...problems];
      },
    },
    decode: { defaults: defaultPolicyTypes },
    create: { validate: (object) => networkPolicyProblems(object.spec) },
  },
  columns: [
    nameColumn,
    textColumn(
      'Pod-Selector',
      'The labels of the pods that it governs.',
      (object) => printLabelSelector(labelSelectorFromObject(object.spec.podSelector)) || NONE,
    ),
    ageColumn,
  ],
});

/** The default types are Ingress, and Egress if there are egress rules. */
function defaultPolicyTypes(draft: NetworkPolicy): void {
  const { spec } = draft;
  if (spec.policyTypes?.length) return;
  spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'];
}
