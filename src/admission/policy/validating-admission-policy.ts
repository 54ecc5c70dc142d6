/**
 * The ValidatingAdmissionPolicy plugin. Every matching policy is evaluated, in the order of their names; the first denial
 * becomes the response. spec: ValidatingAdmissionPolicy
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, failure, StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { StatusReason } from '../../meta/status.js';
import { MAX_CHARACTERS } from '../../protocol/value-limits.js';
import { recoverFrom } from '../../util/catch-error.js';
import { escapeForPages } from '../../util/json.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ExpressionInput } from '../cel/input.js';
import { paceOf } from '../evaluation-pace.js';
import { idleWithout } from '../idle.js';
import { isExemptFromPolicies, matchResources, namespaceOf } from '../match/match.js';
import type { Match } from '../match/types.js';
import { wireObjectFor } from '../match/wire-object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type Decision, evaluatePolicy, type PolicyEvaluation } from './evaluate-policy.js';
import { ConfigurationError, findParams, servedParamKind } from './params.js';
import { BINDINGS, type ValidatingPolicy, validatingPolicies } from './policies.js';

export const validatingAdmissionPolicy: AdmissionPlugin = /* @__PURE__ */ idleWithout([BINDINGS], {
  name: 'ValidatingAdmissionPolicy',
  handlesKind: (served: ServedKind) => !isExemptFromPolicies(served),
  handlesConnect: true,
  isBuiltIn: true,
  mayBeAsynchronous,
  validate,
});

/** Conversion of custom resources is asynchronous, and so may be the evaluation with many parameters. */
function mayBeAsynchronous(served: ServedKind, view: ClusterView): boolean {
  const policies = validatingPolicies(view);
  if (policies.length === 0) return false;
  if (policies.some(({ bindings }) => bindings.some(({ spec }) => spec.paramRef?.selector !== undefined))) return true;
  const waits = (kind: ServedKind | undefined) => kind?.kind.customResourceHandler?.mayBeAsynchronous === true;
  return view.versionsOf(served).some(waits) || policies.some(({ spec }) => waits(paramKindOf(spec.paramKind, view)));
}

function paramKindOf(kind: ValidatingPolicy['spec']['paramKind'], view: ClusterView): ServedKind | undefined {
  const find = () => kind && servedParamKind(kind, view);
  // The error is reported when the policy is evaluated.
  return recoverFrom(ConfigurationError, find, () => undefined);
}

function validate(request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  const policies = validatingPolicies(view);
  if (policies.length === 0) return undefined;
  const session = new Session(request, view);
  return chain(
    inTurn(policies, (policy) => session.evaluate(policy)),
    () => session.throwDenial(),
  );
}

/** Runs one after the other; synchronous unless one of them returns a promise. */
function inTurn<Item>(items: readonly Item[], run: (item: Item) => MaybePromise<void>): MaybePromise<void> {
  let result: MaybePromise<void> = void 0;
  for (const item of items) result = chain(result, () => run(item));
  return result;
}

/** The objects of the request in the version in which a policy matched. */
type VersionedObjects = Pick<ExpressionInput, 'object' | 'oldObject'>;

type Binding = ValidatingPolicy['bindings'][number];

interface Prepared {
  readonly params: readonly ExpressionInput['params'][];
  readonly objects: VersionedObjects;
}

interface Denial {
  readonly policy: ValidatingPolicy;
  readonly binding: Binding | undefined;
  readonly message: string;
  readonly reason: string;
}

/** Evaluates all policies for one request. */
class Session {
  readonly #request: AdmissionRequest;
  readonly #view: ClusterView;
  /** The first denial, which becomes the response. */
  #denial: Denial | undefined;
  #noteCharacters = 0;
  /** By matched kind. */
  readonly #objects = new Map<Match['matched'], VersionedObjects>();

  constructor(request: AdmissionRequest, view: ClusterView) {
    this.#request = request;
    this.#view = view;
  }

  evaluate(policy: ValidatingPolicy): MaybePromise<void> {
    const { spec, bindings } = policy;
    let match: Match | undefined;
    let paramKind: ServedKind | undefined;
    try {
      match = spec.matchConstraints && matchResources(spec.matchConstraints, this.#request, this.#view);
      if (match === undefined) return undefined;
      paramKind = spec.paramKind && servedParamKind(spec.paramKind, this.#view);
    } catch (error) {
      return this.#misconfigured(error, policy, undefined);
    }
    const run = { policy, match, paramKind, notes: new Map<string, Set<string>>() };
    return chain(
      inTurn(bindings, (binding) => this.#evaluateBinding(binding, run)),
      () => this.#publish(run),
    );
  }

  #evaluateBinding(binding: Binding, run: PolicyRun): MaybePromise<void> {
    const ready = rescue(
      () => this.#prepare(binding, run),
      (error) => this.#misconfigured(error, run.policy, binding),
    );
    return chain(ready, (prepared) => prepared && this.#evaluateParams(binding, run, prepared));
  }

  /** The parameters and objects to evaluate with; undefined if the binding does not match. */
  #prepare({ spec }: Binding, run: PolicyRun): MaybePromise<Prepared | undefined> {
    const { matchResources: criteria, paramRef } = spec;
    if (criteria !== undefined && matchResources(criteria, this.#request, this.#view) === undefined) return undefined;
    const params = { kind: run.policy.spec.paramKind, served: run.paramKind, ref: paramRef };
    return chain(findParams(params, this.#request.namespace, this.#view), (found) =>
      found.length === 0 ? undefined : chain(this.#convertObjects(run), (objects) => ({ params: found, objects })),
    );
  }

  /** The objects in the version that the policy matched; converted once for all policies. */
  #convertObjects({ match }: PolicyRun): MaybePromise<VersionedObjects> {
    const cached = this.#objects.get(match.matched);
    if (cached !== undefined) return cached;
    const { object, oldObject } = this.#request;
    return chain(this.#convert(object, match), (next) =>
      chain(this.#convert(oldObject, match), (old) => {
        const objects = { object: next, oldObject: old };
        this.#objects.set(match.matched, objects);
        return objects;
      }),
    );
  }

  #convert(object: ApiObject | undefined, match: Match): MaybePromise<VersionedObjects['object']> {
    const refuse = ({ message }: Error) => new ConfigurationError(`failed to convert object version: ${message}`);
    return wireObjectFor(object, this.#request.served, match, { view: this.#view, refuse });
  }

  #evaluateParams(binding: Binding, run: PolicyRun, { params, objects }: Prepared): MaybePromise<void> {
    const { match, policy } = run;
    const compiled = policy.compiled();
    const namespace = namespaceOf(this.#request, this.#view);
    const input = { request: this.#request, view: this.#view, kind: match.kind, resource: match.resource, ...objects };
    const pace = paceOf(this.#request);
    const evaluate = (one: Prepared['params'][number]): MaybePromise<void> =>
      pace.run(() => this.#enforce(binding, evaluatePolicy(compiled, { ...input, params: one }, namespace), run));
    return inTurn(params, (one) => chain(params.length > 1 ? pace.pause() : undefined, () => evaluate(one)));
  }

  #enforce(binding: Binding, { decisions, annotations }: PolicyEvaluation, { policy, notes }: PolicyRun): void {
    for (const [index, decision] of decisions.entries()) {
      if (decision.verdict === 'deny') this.#deny(decision, index, { policy, binding });
    }
    for (const annotation of annotations) {
      if (annotation.error !== undefined) {
        this.#denial ??= { policy, binding, message: annotation.error, reason: 'Invalid' };
        continue;
      }
      const values = getOrInsertComputed(notes, annotation.key, () => new Set<string>());
      const value = atMost(annotation.value, MAX_NOTE_BYTES);
      if (values.has(value) || this.#noteCharacters + value.length > MAX_CHARACTERS) continue;
      this.#noteCharacters += value.length;
      values.add(value);
    }
  }

  #deny(
    { message, reason = 'Invalid' }: Decision & { readonly verdict: 'deny' },
    expressionIndex: number,
    { policy, binding }: { readonly policy: ValidatingPolicy; readonly binding: Binding },
  ): void {
    const { validationActions = [], policyName = '' } = binding.spec;
    for (const action of validationActions) {
      if (action === 'Deny') this.#denial ??= { policy, binding, message, reason };
      else if (action === 'Warn') {
        const whose = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
        this.#request.warnings.push(`Validation failed for ${whose}: ${message}`);
      } else {
        const key = `${this.#view.dialect.group(serviceGroup('validation.policy.admission'))}/validation_failure`;
        const failure = { message, policy: policyName, binding: binding.name, expressionIndex, validationActions };
        this.#request.annotate(key, escapeForPages(JSON.stringify([failure])));
      }
    }
  }

  /** A policy that cannot be evaluated denies, whatever the binding's actions, unless its failure policy is Ignore. */
  #misconfigured(error: unknown, policy: ValidatingPolicy, binding: Binding | undefined): undefined {
    if (!(error instanceof ConfigurationError) && !StatusError.is(error)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`;
    this.#denial ??= { policy, binding, message, reason: 'Invalid' };
  }

  #publish({ policy, notes }: PolicyRun): void {
    for (const [key, values] of notes) this.#request.annotate(`${policy.name}/${key}`, [...values].join(', '));
  }

  /** Throws the first denial. */
  throwDenial(): void {
    const denial = this.#denial;
    if (denial === undefined) return;
    const { policy, binding, reason } = denial;
    const whose = binding === undefined ? '' : ` with binding '${binding.name}'`;
    const message = `ValidatingAdmissionPolicy '${policy.name}'${whose} denied request: ${denial.message}`;
    const { group, resource } = this.#request.served.gvr;
    const refused = errors.forbidden({ group, resource }, this.#request.name || 'Unknown', message, [{ message }]);
    throw failure({
      reason: reason as StatusReason,
      code: CODES[reason] ?? 422,
      message: refused.message,
      details: refused.status.details,
    });
  }
}

/** The evaluation of one policy across its bindings. */
interface PolicyRun {
  readonly policy: ValidatingPolicy;
  readonly match: Match;
  readonly paramKind: ServedKind | undefined;
  /** Audit annotation values by key; bindings may contribute different values. */
  readonly notes: Map<string, Set<string>>;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

const MAX_NOTE_BYTES = 10 * 1024;

function atMost(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  return encoded.length <= bytes ? text : new TextDecoder().decode(encoded.subarray(0, bytes));
}
