/**
 * One policy, one binding, one parameter: what its validations say about a request, and what is to be noted about it.
 */
import type { Variables } from '../../cel/engine.js';
import { typeNameOf } from '../../cel/runtime-type.js';
import { byteLength } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import {
  type CompiledVariables,
  type Evaluation,
  EXPRESSION_BUDGET,
  evaluateSet,
  type NamedExpression,
  POLICY_BUDGET,
  type Scope,
  VariableValues,
} from '../cel/evaluate.js';
import { type ExpressionInput, namespaceObject, variablesOf } from '../cel/input.js';
import { judgeConditions } from '../cel/match-conditions.js';
import type { CompiledAnnotation, CompiledPolicy, CompiledValidation } from './policies.js';

export interface Judged {
  /** One for each validation, or a single one where something went wrong as a whole. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly Annotation[];
}

/** `error`: it cannot be told; whether that is let go is up to the policy. */
export type Decision =
  | { readonly verdict: 'admit'; readonly error?: string }
  | { readonly verdict: 'deny'; readonly message: string; readonly reason?: string; readonly error?: boolean };

/** What is to be noted under a key; or why it cannot be, which denies the request. */
export type Annotation =
  | { readonly key: string; readonly value: string; readonly error?: undefined }
  | { readonly key: string; readonly error: string };

/** `namespace`: the one that the object is in; absent for what is in none. */
export function judge(policy: CompiledPolicy, input: ExpressionInput, namespace: ApiObject | undefined): Judged {
  if (policy.conditions.length > 0) {
    // Conditions come before anything is known of the namespace, and see the resource as it was asked for.
    const asked = { ...input, resource: input.request.served.gvr };
    const scope = scopeOf(policy.variables, variablesOf(asked, { authorizer: true }));
    const verdict = judgeConditions(policy.conditions, policy.failurePolicy, scope);
    if (verdict.error !== undefined) return only(unknown(policy, verdict.error));
    if (!verdict.matches) return NOTHING;
  }
  const shown = namespace === undefined ? undefined : namespaceObject(namespace);
  const decided = decide(policy, input, shown);
  if ('verdict' in decided) return only(decided);
  if (policy.annotations.length === 0) return { decisions: decided, annotations: [] };
  // Annotations see the whole namespace, and nobody who could tell what somebody may do.
  const given = variablesOf(input, { namespaceObject: namespace && withoutType(namespace) });
  const outcome = evaluateSet(policy.annotations, scopeOf(policy.variables, given), POLICY_BUDGET);
  if (outcome.stop !== undefined) return only(unknown(policy, outcome.stop));
  const annotations = policy.annotations.flatMap((annotation, index) =>
    annotationOf(annotation, outcome.evaluations[index] as Evaluation, policy),
  );
  return { decisions: decided, annotations };
}

const NOTHING: Judged = Object.freeze({ decisions: [], annotations: [] });

function only(decision: Decision): Judged {
  return { decisions: [decision], annotations: [] };
}

/** Each set of expressions evaluates variables for itself. */
function scopeOf(variables: CompiledVariables, given: Variables): Scope {
  return variables.size === 0 ? { given } : { given, variables: new VariableValues(variables, given) };
}

function unknown({ failurePolicy }: CompiledPolicy, why: string): Decision {
  return failurePolicy === 'Ignore' ? { verdict: 'admit', error: why } : { verdict: 'deny', message: why, error: true };
}

function decide(
  policy: CompiledPolicy,
  input: ExpressionInput,
  shown: Readonly<Record<string, unknown>> | undefined,
): readonly Decision[] | Decision {
  const { validations, variables } = policy;
  if (validations.length === 0) return [];
  const given = variablesOf(input, { namespaceObject: shown, authorizer: true });
  const outcome = evaluateSet(validations, scopeOf(variables, given), POLICY_BUDGET);
  if (outcome.stop !== undefined) return unknown(policy, outcome.stop);
  const { evaluations, budgetLeft } = outcome;
  const messages = messagesOf(policy, { evaluations, budgetLeft }, () =>
    scopeOf(variables, variablesOf(input, { namespaceObject: shown })),
  );
  return evaluations.map((evaluation, index): Decision => {
    if (evaluation.error !== undefined) return unknown(policy, evaluation.error);
    if (typeof messages === 'string') return unknown(policy, `failed messageExpression: ${messages}`);
    if (evaluation.value === true) return ADMITTED;
    const validation = validations[index] as CompiledValidation;
    const { reason = 'Invalid' } = validation;
    return { verdict: 'deny', message: messageText(validation, messages.get(index)), reason };
  });
}

const ADMITTED: Decision = Object.freeze({ verdict: 'admit' });

/**
 * What the expressions for messages give, by the index of their validation; or why they were given up. All of them are
 * evaluated, on what the validations have left of the budget; where nothing fails and they could not spend it, there is
 * no need to.
 */
function messagesOf(
  { validations, variables }: CompiledPolicy,
  spent: { readonly evaluations: readonly Evaluation[]; readonly budgetLeft: number },
  scope: () => Scope,
): ReadonlyMap<number, Evaluation> | string {
  const expressions: NamedExpression[] = [];
  const places: number[] = [];
  for (const [index, { messageExpression }] of validations.entries()) {
    if (messageExpression === undefined) continue;
    expressions.push(messageExpression);
    places.push(index);
  }
  const isAffordable = (expressions.length + variables.size) * EXPRESSION_BUDGET <= spent.budgetLeft;
  if (isAffordable && spent.evaluations.every(({ value }) => value === true)) return NO_MESSAGES;
  if (expressions.length === 0) return NO_MESSAGES;
  const outcome = evaluateSet(expressions, scope(), spent.budgetLeft);
  if (outcome.stop !== undefined) return outcome.stop;
  return new Map(outcome.evaluations.map((evaluation, index) => [places[index] as number, evaluation]));
}

const NO_MESSAGES: ReadonlyMap<number, Evaluation> = new Map();

const MAX_MESSAGE_BYTES = 5 * 1024;

/** The expression for a message, the message, or the expression that failed: the first of them that says something. */
function messageText({ text, message }: CompiledValidation, evaluation: Evaluation | undefined): string {
  return usable(evaluation) || message.trim() || `failed expression: ${text.trim()}`;
}

function usable(evaluation: Evaluation | undefined): string {
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

/** Whoever reads namespaces for policies leaves out who owns what in them. */
function withoutType({ metadata, spec, status }: ApiObject): Readonly<Record<string, unknown>> {
  const { managedFields: _owners, ...shown } = metadata;
  return { metadata: shown, spec: spec ?? {}, status: status ?? {} };
}
