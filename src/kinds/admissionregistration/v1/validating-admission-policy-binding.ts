/**
 * The ValidatingAdmissionPolicyBinding kind: where a ValidatingAdmissionPolicy applies, with which parameters, and what
 * happens to a request that violates it.
 */

import { duplicate, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ValidatingAdmissionPolicyBindingKind,
  type ValidatingAdmissionPolicyBindingObject,
  validatingAdmissionPolicyBindingBase,
} from '../../generated/admissionregistration-v1.js';
import { optionalValueErrors } from '../../shared/field-rules.js';
import { specGeneration } from '../../shared/strategies.js';
import { authorizeParamRef, VALIDATING_BINDINGS } from './param-access.js';
import { bindingColumns, bindingSpecErrors } from './policy-parts.js';

export interface ValidatingAdmissionPolicyBinding extends ValidatingAdmissionPolicyBindingObject {}

export const ValidatingAdmissionPolicyBinding: ValidatingAdmissionPolicyBindingKind<ValidatingAdmissionPolicyBinding> =
  defineBuiltIn({
    ...validatingAdmissionPolicyBindingBase,
    lifecycle: { introducedIn: '1.30' },
    names: { categories: ['api-extensions'] },
    strategy: {
      create: { metadataValidation: 'repeated', validate },
      update: { allowUnconditionalUpdate: false, validationOrder: ['create'] },
      write: { generation: specGeneration, authorizeValidated: authorizeParamRef(VALIDATING_BINDINGS) },
    },
    columns: bindingColumns,
  });

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const NOT_BOTH =
  'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)';

function validate(object: ValidatingAdmissionPolicyBinding): readonly FieldError[] {
  const { spec } = object;
  const path = 'spec.validationActions';
  const { validationActions: actions = [] } = spec;
  const found = bindingSpecErrors(spec);
  const seen = new Set<string>();
  for (const [index, action] of actions.entries()) {
    append(found, optionalValueErrors(keyPath(path, index), action, ACTIONS));
    if (seen.has(action)) found.push(duplicate(keyPath(path, index), action));
    seen.add(action);
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const shown = verbatim(`[]admissionregistration.ValidationAction{${actions.map(quote).join(', ')}}`);
    found.push(invalid(path, shown, NOT_BOTH));
  }
  if (seen.size === 0) found.push(required(path, 'at least one validation action is required'));
  return found;
}
