/**
 * Evaluates one ValidatingAdmissionPolicy with one parameter: match conditions, validations, messages and audit
 * annotations.
 */
import { typeNameOf } from '../../cel/index.js';
import { byteLength } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import {
  type Evaluation,
  EXPRESSION_BUDGET,
  evaluateSet,
  type NamedExpression,
  POLICY_BUDGET,
  type Scope,
  scopeOf,
} from '../cel/evaluate.js';
import { type ExpressionInput, namespaceObject, variablesOf } from '../cel/input.js';
import { policyConditions } from '../cel/match-conditions.js';
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation } from './policies.js';

/** The result of one policy with one binding and one parameter. */
export interface PolicyEvaluation {
  /** One per validation, or a single one if the evaluation failed as a whole. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
}

/** `error` marks an evaluation that failed; the failure policy has already been applied. */
export type Decision =
  | { readonly verdict: 'admit'; readonly error?: string }
  | { readonly verdict: 'deny'; readonly message: string; readonly reason?: string; readonly error?: boolean };

/** An audit annotation, or the error that denies the request instead. */
export type Annotation =
  | { readonly key: string; readonly value: string; readonly error?: undefined }
  | { readonly key: string; readonly error: string };

/** `namespace` is the namespace of the object; undefined for cluster-scoped objects. */
export function evaluatePolicy(
  policy: CompiledPolicy,
  input: ExpressionInput,
  namespace: ApiObject | undefined,
): PolicyEvaluation {
  if (policy.conditions.length > 0) {
    const verdict = policyConditions(policy, policy.failurePolicy, input);
    if (verdict.error !== undefined) return singleDecision(failureDecision(policy, verdict.error));
    if (!verdict.matches) return NOTHING;
  }
  const namespaceValue = namespace === undefined ? undefined : namespaceObject(namespace);
  const decisions = evaluateValidations(policy, input, namespaceValue);
  if ('verdict' in decisions) return singleDecision(decisions);
  if (policy.annotations.length === 0) return { decisions, annotations: [] };
  // Audit annotations see the whole namespace, and have no authorizer.
  const given = variablesOf(input, { namespaceObject: namespace && withoutType(namespace) });
  const outcome = evaluateSet(policy.annotations, scopeOf(policy.variables, given), POLICY_BUDGET);
  if (outcome.stop !== undefined) return singleDecision(failureDecision(policy, outcome.stop));
  const annotations = policy.annotations.flatMap((annotation, index) =>
    annotationOf(annotation, outcome.evaluations[index] as Evaluation, policy),
  );
  return { decisions, annotations };
}

const NOTHING: PolicyEvaluation = Object.freeze({ decisions: [], annotations: [] });

function singleDecision(decision: Decision): PolicyEvaluation {
  return { decisions: [decision], annotations: [] };
}

function failureDecision({ failurePolicy }: CompiledPolicy, why: string): Decision {
  return failurePolicy === 'Ignore' ? { verdict: 'admit', error: why } : { verdict: 'deny', message: why, error: true };
}

function evaluateValidations(
  policy: CompiledPolicy,
  input: ExpressionInput,
  namespaceValue: Readonly<Record<string, unknown>> | undefined,
): readonly Decision[] | Decision {
  const { validations, variables } = policy;
  if (validations.length === 0) return [];
  const given = variablesOf(input, { namespaceObject: namespaceValue, authorizer: true });
  const outcome = evaluateSet(validations, scopeOf(variables, given), POLICY_BUDGET);
  if (outcome.stop !== undefined) return failureDecision(policy, outcome.stop);
  const { evaluations, budgetLeft } = outcome;
  const messages = evaluateMessages(policy, { evaluations, budgetLeft }, () =>
    scopeOf(variables, variablesOf(input, { namespaceObject: namespaceValue })),
  );
  return evaluations.map((evaluation, index): Decision => {
    if (evaluation.error !== undefined) return failureDecision(policy, evaluation.error);
    if (typeof messages === 'string') return failureDecision(policy, `failed messageExpression: ${messages}`);
    if (evaluation.value === true) return ADMITTED;
    const validation = validations[index] as CompiledValidation;
    const { reason = 'Invalid' } = validation;
    return { verdict: 'deny', message: messageText(validation, messages.get(index)), reason };
  });
}

const ADMITTED: Decision = Object.freeze({ verdict: 'admit' });

/**
 * The results of the message expressions by validation index, or the reason why the evaluation stopped. All of them are
 * evaluated on the budget that the validations left. They are skipped if no validation fails and they could not exceed
 * the budget.
 */
function evaluateMessages(
  { validations, variables }: CompiledPolicy,
  spent: { readonly evaluations: readonly Evaluation[]; readonly budgetLeft: number },
  scope: () => Scope,
): ReadonlyMap<number, Evaluation> | string {
  const expressions: NamedExpression[] = [];
  const indexes: number[] = [];
  for (const [index, { messageExpression }] of validations.entries()) {
    if (messageExpression === undefined) continue;
    expressions.push(messageExpression);
    indexes.push(index);
  }
  const isAffordable = (expressions.length + variables.size) * EXPRESSION_BUDGET <= spent.budgetLeft;
  if (isAffordable && spent.evaluations.every(({ value }) => value === true)) return NO_MESSAGES;
  if (expressions.length === 0) return NO_MESSAGES;
  const outcome = evaluateSet(expressions, scope(), spent.budgetLeft);
  if (outcome.stop !== undefined) return outcome.stop;
  return new Map(outcome.evaluations.map((evaluation, index) => [indexes[index] as number, evaluation]));
}

const NO_MESSAGES: ReadonlyMap<number, Evaluation> = new Map();

const MAX_MESSAGE_BYTES = 5 * 1024;

/** The first non-empty of: the result of the message expression, the message, the failed expression. */
function messageText({ text, message }: CompiledValidation, evaluation: Evaluation | undefined): string {
  return usableMessage(evaluation) || message.trim() || `failed expression: ${text.trim()}`;
}

function usableMessage(evaluation: Evaluation | undefined): string {
  if (typeof evaluation?.value !== 'string') return '';
  const text = evaluation.value.trim();
  return text.includes('\n') || byteLength(text) > MAX_MESSAGE_BYTES ? '' : text;
}

function annotationOf(
  { key, text }: CompiledAnnotation,
  { value, error }: Evaluation,
  { failurePolicy }: CompiledPolicy,
): Annotation[] {
  if (error !== undefined) return failurePolicy === 'Ignore' ? [] : [{ key, error }];
  if (value === null) return [];
  if (typeof value === 'string') return value.trim() === '' ? [] : [{ key, value: value.trim() }];
  const type = value === undefined ? '' : typeNameOf(value);
  const why = `valueExpression '${text}' resulted in unsupported return type: ${type}. Return type must be either string or null.`;
  return [{ key, error: why }];
}

/** The reference server's namespace cache drops managedFields. */
function withoutType({ metadata, spec, status }: ApiObject): Readonly<Record<string, unknown>> {
  const { managedFields: _owners, ...namespaceValue } = metadata;
  return { metadata: namespaceValue, spec: spec ?? {}, status: status ?? {} };
}
