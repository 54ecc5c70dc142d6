/**
 * The ValidatingAdmissionPolicy kind: CEL rules for requests. This file validates the policy; `admission/` evaluates
 * it.
 */

import type { DialectRules } from '../../../meta/dialect-rules.js';
import { duplicate, type FieldError, invalid, keptOnUpdate, keyPath, required } from '../../../meta/field-error.js';
import { byteLength, qualifiedNameProblems } from '../../../meta/names.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { JsonPathError, parseJsonPath } from '../../../text/json-path/json-path.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type AuditAnnotation,
  type ValidatingAdmissionPolicyKind,
  type ValidatingAdmissionPolicyObject,
  type ValidatingAdmissionPolicySpec,
  type Validation,
  validatingAdmissionPolicyBase,
} from '../../generated/admissionregistration-v1.js';
import type { HookContext } from '../../kind.js';
import { conditionErrors } from '../../shared/condition-rules.js';
import { optionalValueErrors } from '../../shared/field-rules.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { ANNOTATION, CONDITION, MESSAGE } from '../expressions/compile.js';
import { type Accepted, DefinedExpressions } from '../expressions/definition.js';
import { authorizeParamKind } from './param-access.js';
import {
  acceptedTexts,
  conditionsAreUntouched,
  type PolicyValidationOptions,
  policyColumns,
  policySpecErrors,
} from './policy-parts.js';

export interface ValidatingAdmissionPolicy extends ValidatingAdmissionPolicyObject {}

export const ValidatingAdmissionPolicy: ValidatingAdmissionPolicyKind<ValidatingAdmissionPolicy> = defineBuiltIn({
  ...validatingAdmissionPolicyBase,
  lifecycle: { introducedIn: '1.30' },
  names: { plural: 'validatingadmissionpolicies', categories: ['api-extensions'] },
  strategy: {
    create: { metadataValidation: 'repeated', validate },
    update: { allowUnconditionalUpdate: false, validationOrder: ['update', 'create'] },
    write: { separateStatus: true, generation: specGeneration, authorizeValidated: authorizeParamKind },
  },
  subresources: {
    status: {
      createsOnApply: true,
      ...statusSubresource({
        metadata: 'kept',
        metadataValidation: 'none',
        validate: validateStatus,
      }),
    },
  },
  columns: policyColumns<ValidatingAdmissionPolicy>(
    'Validations',
    'The number of validations.',
    (object) => object.spec.validations?.length,
  ),
});

const NOTHING_TO_DO = 'validations or auditAnnotations must contain at least one item';

/** Options for the validation of one policy, with the live policy's expressions by purpose. */
interface ValidationOptions extends PolicyValidationOptions {
  readonly accepted: PolicyValidationOptions['accepted'] & {
    readonly messages: Accepted;
    readonly annotations: Accepted;
  };
}

function validationOptions(
  spec: ValidatingAdmissionPolicySpec,
  live?: ValidatingAdmissionPolicySpec,
): ValidationOptions {
  return {
    expressions: new DefinedExpressions({
      params: spec.paramKind !== undefined,
      composes: (spec.variables ?? []).length > 0,
    }),
    accepted: {
      conditions: acceptedTexts(live?.matchConditions?.map(({ expression }) => expression)),
      // As in the reference server, a variable counts as accepted if a live validation had the same text.
      variables: acceptedTexts(live?.validations?.map(({ expression }) => expression)),
      messages: acceptedTexts(live?.validations?.map(({ messageExpression }) => messageExpression)),
      annotations: acceptedTexts(live?.auditAnnotations?.map(({ valueExpression }) => valueExpression)),
    },
    ignoresConditions: conditionsAreUntouched(spec, live),
  };
}

function validate(
  object: ValidatingAdmissionPolicy,
  { dialect: { rules } }: HookContext,
  live?: ValidatingAdmissionPolicy,
): readonly FieldError[] {
  const { spec } = object;
  const { validations = [], auditAnnotations = [] } = spec;
  const judged = validationOptions(spec, live?.spec);
  const found = policySpecErrors(spec, judged);
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const fields = ['spec.validations', 'spec.auditAnnotations'];
    return [...found, ...fields.map((field) => required(field, NOTHING_TO_DO))];
  }
  return [
    ...found,
    ...validations.flatMap((one, index) =>
      validationErrors(one, keyPath('spec.validations', index), { ...judged, rules }),
    ),
    ...auditAnnotationErrors(auditAnnotations, object.metadata.name ?? '', judged),
  ];
}

function validationErrors(
  rule: Validation,
  path: string,
  { expressions, accepted, rules }: ValidationOptions & { readonly rules: DialectRules },
): FieldError[] {
  const { expression, message = '', messageExpression = '', reason } = rule;
  const found: FieldError[] = [];
  if (expression.trim() === '') found.push(required(`${path}.expression`, 'expression is not specified'));
  else {
    const scope = { authorizer: true, stored: accepted.variables.has(expression) };
    append(found, expressions.check(expression, { path: `${path}.expression`, results: CONDITION, scope }));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    found.push(invalid(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'));
  } else if (messageExpression !== '') {
    const scope = { stored: accepted.messages.has(messageExpression) };
    const at = { path: `${path}.messageExpression`, results: MESSAGE, scope };
    append(found, expressions.check(messageExpression, at));
  }
  if (message !== '' && message.trim() === '') {
    found.push(invalid(`${path}.message`, message, 'message must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    found.push(invalid(`${path}.message`, message, 'message must not contain line breaks'));
  }
  if (message === '' && rules.longExpressionNeedsMessage && /[\n\r]/.test(expression.trim())) {
    const error = required(`${path}.message`, 'message must be specified if expression contains line breaks');
    found.push(keptOnUpdate(error));
  }
  append(found, optionalValueErrors(`${path}.reason`, reason, rules.policyReasons));
  return found;
}

const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION_BYTES = 5 * 1024;

function auditAnnotationErrors(
  annotations: readonly AuditAnnotation[],
  name: string,
  { expressions, accepted }: ValidationOptions,
): FieldError[] {
  const path = 'spec.auditAnnotations';
  const found: FieldError[] = [];
  if (annotations.length > MAX_AUDIT_ANNOTATIONS) {
    found.push(invalid(path, annotationsDump(annotations), 'must not have more than 20 auditAnnotations'));
  }
  const seen = new Set<string>();
  for (const [index, { key, valueExpression }] of annotations.entries()) {
    const at = keyPath(path, index);
    const shown = name === '' ? key : `${name}/${key}`;
    const details = name === '' ? ['requires metadata.name be non-empty'] : qualifiedNameProblems(shown);
    append(
      found,
      details.map((detail) => invalid(`${at}.key`, shown, detail)),
    );
    const text = valueExpression.trim();
    const valuePath = `${at}.valueExpression`;
    if (text === '') found.push(required(valuePath, 'valueExpression is not specified'));
    else if (byteLength(text) > MAX_VALUE_EXPRESSION_BYTES) {
      found.push(required(valuePath, `must not exceed ${MAX_VALUE_EXPRESSION_BYTES} bytes in length`));
    } else {
      const scope = { authorizer: true, stored: accepted.annotations.has(valueExpression) };
      const expected = { path: valuePath, results: ANNOTATION, scope, shown: valueExpression };
      append(found, expressions.check(text, expected));
    }
    if (seen.has(key)) found.push(duplicate(`${at}.key`, key));
    seen.add(key);
  }
  return found;
}

function annotationsDump(annotations: readonly AuditAnnotation[]) {
  const items = annotations.map(
    ({ key, valueExpression }) =>
      `admissionregistration.AuditAnnotation{Key:${quote(key)}, ValueExpression:${quote(valueExpression)}}`,
  );
  return verbatim(`[]admissionregistration.AuditAnnotation{${items.join(', ')}}`);
}

function validateStatus(next: ValidatingAdmissionPolicy): readonly FieldError[] {
  const { typeChecking: checked, conditions } = next.status;
  const found: FieldError[] = [];
  for (const [index, { warning, fieldRef }] of (checked?.expressionWarnings ?? []).entries()) {
    const at = keyPath('status.typeChecking.expressionWarnings', index);
    if (warning === '') found.push(required(`${at}.warning`));
    append(found, fieldRefErrors(fieldRef.trim(), `${at}.fieldRef`));
  }
  return [...found, ...conditionErrors(conditions, 'status.conditions')];
}

/** Validates the path of an expression in a type checking warning. */
function fieldRefErrors(fieldRef: string, path: string): FieldError[] {
  if (fieldRef === '') return [required(path)];
  try {
    parseJsonPath(fieldRef);
    return [];
  } catch (error) {
    if (!(error instanceof JsonPathError)) throw error;
    return [invalid(path, fieldRef, `invalid JSONPath: ${error.why}`)];
  }
}
