/**
 * Validates the attributes of access reviews.
 */
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import type { NonResourceAttributes, ResourceAttributes } from '../../generated/authorization-v1.js';

/** Requires exactly one of resource and non-resource attributes. */
export function attributesProblems(spec: {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}): FieldError[] {
  const { resourceAttributes: resource, nonResourceAttributes: other } = spec;
  const problems: FieldError[] = [];
  if (resource !== undefined && other !== undefined) {
    const { path = '', verb = '' } = other;
    const dump = verbatim(`authorization.NonResourceAttributes{Path:${quote(path)}, Verb:${quote(verb)}}`);
    problems.push(
      invalid('spec.nonResourceAttributes', dump, 'cannot be specified in combination with resourceAttributes'),
    );
  }
  if (resource === undefined && other === undefined) {
    const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    problems.push(invalid('spec.resourceAttributes', 'null', detail));
  }
  return problems;
}
