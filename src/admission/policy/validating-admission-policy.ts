/**
 * ValidatingAdmissionPolicy: judges requests by the policies that are bound. Every policy that matches has its say, in
 * the order of their names; the first denial is the answer. spec: ValidatingAdmissionPolicy
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, failure, StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { StatusReason } from '../../meta/status.js';
import { escapeForPages } from '../../util/json.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import { asleepWithout } from '../asleep.js';
import type { ExpressionInput } from '../cel/input.js';
import { formBelow, wireObject } from '../match/form.js';
import { isNeverSeenByPolicies, matchResources, namespaceOf } from '../match/match.js';
import type { Match } from '../match/types.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { type Decision, type Judged, judge } from './judge.js';
import { ConfigurationError, findParams, servedParamKind } from './params.js';
import { BINDINGS, type Binding, type BoundPolicy, boundPolicies, compiledPolicy } from './policies.js';

export const validatingAdmissionPolicy: AdmissionPlugin = /* @__PURE__ */ asleepWithout([BINDINGS], {
  name: 'ValidatingAdmissionPolicy',
  looksAt,
  connects: true,
  isBuiltIn: true,
  mayWait,
  validate,
});

const GROUP = serviceGroup('admissionregistration');
const POLICY_RESOURCES = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];

/** A policy that forbids to change policies could never be undone. */
function looksAt(served: ServedKind): boolean {
  const { group, names } = served.kind;
  return !(group === GROUP && POLICY_RESOURCES.includes(names.plural)) && !isNeverSeenByPolicies(served);
}

/** Only conversions of custom kinds are waited for. */
function mayWait(served: ServedKind, view: ClusterView): boolean {
  const policies = boundPolicies(view);
  if (policies.length === 0) return false;
  const waits = (kind: ServedKind | undefined) => kind?.kind.custom?.mayWait === true;
  return view.versionsOf(served).some(waits) || policies.some(({ spec }) => waits(paramKindOf(spec.paramKind, view)));
}

function paramKindOf(kind: BoundPolicy['spec']['paramKind'], view: ClusterView): ServedKind | undefined {
  try {
    return kind && servedParamKind(kind, view);
  } catch (error) {
    // It is said when the policy is evaluated; there is nothing to wait for.
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}

function validate(request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  const policies = boundPolicies(view);
  if (policies.length === 0) return undefined;
  const session = new Session(request, view);
  return chain(
    inTurn(policies, (policy) => session.evaluate(policy)),
    () => session.refuse(),
  );
}

/** One after the other; waits only where one of them has to be waited for. */
function inTurn<Item>(items: readonly Item[], run: (item: Item) => MaybePromise<void>): MaybePromise<void> {
  let result: MaybePromise<void> = void 0;
  for (const item of items) result = chain(result, () => run(item));
  return result;
}

/** Objects in the version in which a policy has matched. */
type Shown = Pick<ExpressionInput, 'object' | 'oldObject'>;

interface Prepared {
  readonly params: readonly ExpressionInput['params'][];
  readonly shown: Shown;
}

interface Denial {
  readonly policy: BoundPolicy;
  readonly binding: Binding | undefined;
  readonly message: string;
  readonly reason: string;
}

/** One request on its way past all policies. */
class Session {
  readonly #request: AdmissionRequest;
  readonly #view: ClusterView;
  readonly #denials: Denial[] = [];
  /** By what the request matched as. */
  readonly #shown = new Map<Match['matched'], Shown>();

  constructor(request: AdmissionRequest, view: ClusterView) {
    this.#request = request;
    this.#view = view;
  }

  evaluate(policy: BoundPolicy): MaybePromise<void> {
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
    const about = { policy, match, paramKind, notes: new Map<string, Set<string>>() };
    return chain(
      inTurn(bindings, (binding) => this.#evaluateBinding(binding, about)),
      () => this.#publish(about),
    );
  }

  #evaluateBinding(binding: Binding, about: PolicyRun): MaybePromise<void> {
    const ready = rescue(
      () => this.#prepare(binding, about),
      (error) => this.#misconfigured(error, about.policy, binding),
    );
    return chain(ready, (prepared) => {
      if (prepared !== undefined) this.#judge(binding, about, prepared);
    });
  }

  /** What the policy is evaluated with; undefined where the binding does not want it to be. */
  #prepare({ spec }: Binding, about: PolicyRun): MaybePromise<Prepared | undefined> {
    const { matchResources: criteria, paramRef } = spec;
    if (criteria !== undefined && matchResources(criteria, this.#request, this.#view) === undefined) return undefined;
    const params = { kind: about.policy.spec.paramKind, served: about.paramKind, ref: paramRef };
    return chain(findParams(params, this.#request.namespace, this.#view), (found) =>
      found.length === 0 ? undefined : chain(this.#show(about), (shown) => ({ params: found, shown })),
    );
  }

  /** The objects in the version that a policy speaks of; converted once for all of them. */
  #show({ match }: PolicyRun): MaybePromise<Shown> {
    const known = this.#shown.get(match.matched);
    if (known !== undefined) return known;
    const { object, oldObject } = this.#request;
    return chain(this.#inVersion(object, match), (next) =>
      chain(this.#inVersion(oldObject, match), (old) => {
        const shown = { object: next, oldObject: old };
        this.#shown.set(match.matched, shown);
        return shown;
      }),
    );
  }

  #inVersion(object: ApiObject | undefined, { matched, subresource }: Match): MaybePromise<Shown['object']> {
    if (object === undefined) return undefined;
    const { served } = this.#request;
    const form = formBelow(matched, subresource);
    // What stands below an object is the same in all its versions.
    if (form !== matched || matched === served) return wireObject(object, form);
    return rescue(
      () => chain(this.#view.convert(object, served, matched), (converted) => wireObject(converted, form)),
      (error) => {
        if (!StatusError.is(error)) throw error;
        throw new ConfigurationError(`failed to convert object version: ${error.message}`);
      },
    );
  }

  #judge(binding: Binding, about: PolicyRun, { params, shown }: Prepared): void {
    const { match, policy } = about;
    const compiled = compiledPolicy(policy.spec);
    const namespace = namespaceOf(this.#request, this.#view);
    const input = { request: this.#request, view: this.#view, kind: match.kind, resource: match.resource, ...shown };
    const judged = params.map((one) => judge(compiled, { ...input, params: one }, namespace));
    for (const result of judged) this.#enforce(binding, result, about);
  }

  #enforce(binding: Binding, { decisions, annotations }: Judged, { policy, notes }: PolicyRun): void {
    for (const [index, decision] of decisions.entries()) {
      if (decision.verdict === 'deny') this.#deny(decision, index, { policy, binding });
    }
    for (const annotation of annotations) {
      if (annotation.error !== undefined) {
        this.#denials.push({ policy, binding, message: annotation.error, reason: 'Invalid' });
        continue;
      }
      const values = notes.get(annotation.key) ?? new Set();
      notes.set(annotation.key, values.add(atMost(annotation.value, MAX_NOTE_BYTES)));
    }
  }

  #deny(
    { message, reason = 'Invalid' }: Decision & { readonly verdict: 'deny' },
    expressionIndex: number,
    { policy, binding }: { readonly policy: BoundPolicy; readonly binding: Binding },
  ): void {
    const { validationActions = [], policyName = '' } = binding.spec;
    for (const action of validationActions) {
      if (action === 'Deny') this.#denials.push({ policy, binding, message, reason });
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

  /** Whatever the actions of a binding: a policy that cannot be evaluated denies, unless it is one that may fail. */
  #misconfigured(error: unknown, policy: BoundPolicy, binding: Binding | undefined): undefined {
    if (!(error instanceof ConfigurationError) && !StatusError.is(error)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`;
    this.#denials.push({ policy, binding, message, reason: 'Invalid' });
  }

  #publish({ policy, notes }: PolicyRun): void {
    for (const [key, values] of notes) this.#request.annotate(`${policy.name}/${key}`, [...values].join(', '));
  }

  /** Throws for the first denial. */
  refuse(): void {
    const [denial] = this.#denials;
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

/** What is known of one policy while its bindings are evaluated. */
interface PolicyRun {
  readonly policy: BoundPolicy;
  readonly match: Match;
  readonly paramKind: ServedKind | undefined;
  /** What is to be noted, by key; several bindings may say different things. */
  readonly notes: Map<string, Set<string>>;
}

const CODES: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

const MAX_NOTE_BYTES = 10 * 1024;

function atMost(text: string, bytes: number): string {
  const encoded = new TextEncoder().encode(text);
  return encoded.length <= bytes ? text : new TextDecoder().decode(encoded.subarray(0, bytes));
}
