/**
 * The MutatingAdmissionPolicy plugin. It first determines the policies that match, then runs their mutations one after the
 * other, in the order of policy and binding names.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, failure, StatusError } from '../../meta/errors.js';
import { printGvk } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { StatusReason } from '../../meta/status.js';
import { MAX_CHARACTERS } from '../../protocol/value-limits.js';
import { append } from '../../util/arrays.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { evaluateSet, POLICY_BUDGET, type Scope, scopeOf } from '../cel/evaluate.js';
import { type ExpressionInput, namespaceObject, variablesOf } from '../cel/input.js';
import { policyConditions } from '../cel/match-conditions.js';
import { paceOf } from '../evaluation-pace.js';
import { idleWithout } from '../idle.js';
import { isExemptFromPolicies, matchResources, namespaceOf } from '../match/match.js';
import { Reinvocation } from '../match/reinvocation.js';
import type { Match } from '../match/types.js';
import { VersionedDraft, type VersionedObjects } from '../match/versioned-draft.js';
import { subresourceKind } from '../match/wire-object.js';
import { ConfigurationError, findParams, servedParamKind } from '../policy/params.js';
import { type CompiledMutation, MUTATING_BINDINGS, type MutatingPolicy, mutatingPolicies } from '../policy/policies.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { applyConfiguration, applyPatchSteps, MutationError } from './mutations.js';

export const mutatingAdmissionPolicy: AdmissionPlugin = /* @__PURE__ */ idleWithout([MUTATING_BINDINGS], {
  name: 'MutatingAdmissionPolicy',
  handlesKind: (served: ServedKind) => !isExemptFromPolicies(served),
  handlesConnect: true,
  changesNothing: (view: ClusterView) => mutatingPolicies(view).length === 0,
  decodesChanges: true,
  // Conversion may be asynchronous.
  mayBeAsynchronous: (_served: ServedKind, view: ClusterView) => mutatingPolicies(view).length > 0,
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (request.operation === 'DELETE' || mutatingPolicies(view).length === 0) return undefined;
  return new Session(request, view).run();
}

/** One run of a policy with a binding and a parameter. */
interface Invocation {
  readonly policy: MutatingPolicy;
  readonly binding: MutatingPolicy['bindings'][number];
  readonly match: Match;
  readonly params: ExpressionInput['params'];
}

interface Denial {
  readonly message: string;
  /** Absent for configuration errors of a policy or binding. */
  readonly reason?: StatusReason;
}

/** Runs all policies for one request. */
class Session {
  readonly #request: AdmissionRequest<DraftObject>;
  readonly #view: ClusterView;
  readonly #draft: VersionedDraft;
  readonly #reinvocation: Reinvocation;
  readonly #denials: Denial[] = [];
  #denialCharacters = 0;

  constructor(request: AdmissionRequest<DraftObject>, view: ClusterView) {
    this.#request = request;
    this.#view = view;
    this.#draft = new VersionedDraft(request, view);
    this.#reinvocation = Reinvocation.of(mutatingAdmissionPolicy, request.rounds);
  }

  async run(): Promise<void> {
    const invocations: Invocation[] = [];
    for (const policy of mutatingPolicies(this.#view)) append(invocations, await this.#invocationsOf(policy));
    if (invocations.length > 0) await this.#runAll(invocations);
    this.#throwDenials();
  }

  async #runAll(invocations: readonly Invocation[]): Promise<void> {
    const { object } = this.#request;
    this.#reinvocation.beginRound(object);
    try {
      const namespace = namespaceOf(this.#request, this.#view);
      const pace = paceOf(this.#request);
      for (const invocation of invocations) {
        await pace.pause();
        await pace.run(() => this.#runOne(invocation, namespace));
      }
      // As in the reference server, a mutation without effect also triggers reinvocation.
      // upstream: apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go dispatcher.dispatchInvocations
      if (this.#draft.isDirty) this.#reinvocation.objectChanged();
      await this.#draft.finish();
    } finally {
      this.#reinvocation.endRound(object);
    }
  }

  async #invocationsOf(policy: MutatingPolicy): Promise<readonly Invocation[]> {
    const { spec, bindings } = policy;
    let match: Match | undefined;
    let paramKind: ServedKind | undefined;
    try {
      match = matchResources(spec.matchConstraints ?? {}, this.#request, this.#view);
      if (match === undefined) return [];
      if (spec.paramKind !== undefined) paramKind = servedParamKind(spec.paramKind, this.#view);
    } catch (error) {
      this.#misconfigured(error, policy, undefined);
      return [];
    }
    const found: Invocation[] = [];
    for (const binding of bindings) {
      try {
        const { matchResources: narrowed, paramRef: ref } = binding.spec;
        if (narrowed !== undefined && matchResources(narrowed, this.#request, this.#view) === undefined) continue;
        const change = { kind: spec.paramKind, served: paramKind, ref };
        const all = await findParams(change, this.#request.namespace, this.#view);
        for (const params of all) found.push({ policy, binding, match, params });
      } catch (error) {
        this.#misconfigured(error, policy, binding);
      }
    }
    return found;
  }

  async #runOne(invocation: Invocation, namespace: ApiObject | undefined): Promise<void> {
    const { policy } = invocation;
    const compiled = policy.compiled();
    if (compiled.conditions.length > 0) {
      const verdict = policyConditions(compiled, policy.spec.failurePolicy, await this.#input(invocation));
      if (verdict.error !== undefined) return this.#deny(verdict.error, invocation);
      if (!verdict.matches) return undefined;
    }
    const key = keyOf(invocation);
    if (!this.#reinvocation.shouldInvoke(key)) return undefined;
    let isChanged = false;
    for (const mutation of compiled.mutations) {
      // Each mutation sees the result of the previous one.
      const input = await this.#input(invocation);
      if (input.object === undefined) continue;
      const given = variablesOf(input, {
        authorizer: true,
        namespaceObject: namespace === undefined ? undefined : namespaceObject(namespace),
      });
      const scope = scopeOf(compiled.variables, given);
      isChanged = this.#change(mutation, { invocation, scope, object: input.object }) || isChanged;
    }
    if (isChanged) this.#reinvocation.objectChanged();
    if (policy.spec.reinvocationPolicy === 'IfNeeded') this.#reinvocation.allowReinvocation(key);
    return undefined;
  }

  async #input({ match, params }: Invocation): Promise<ExpressionInput> {
    const versioned: VersionedObjects = await this.#draft.convertTo(match);
    const { object, oldObject } = versioned;
    const { kind, resource } = versioned.match;
    return { request: this.#request, view: this.#view, kind, resource, object, oldObject, params };
  }

  /** Applies a mutation. Returns whether the object changed. */
  #change(mutation: CompiledMutation, change: Change): boolean {
    try {
      const value = evaluateMutation(mutation, change.scope);
      if (mutation.type === 'JSONPatch') {
        return this.#draft.accept(applyPatchSteps(value, change.object), { strict: true });
      }
      const { matched, subresource, kind } = change.invocation.match;
      const served = subresourceKind(matched, subresource);
      if (served === undefined) {
        const why = `no corresponding type for ${printGvk(kind)}`;
        throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${why}`);
      }
      const refuse = (why: string, cause: unknown) => new MutationError(unconvertible(why, served), { cause });
      return this.#draft.accept(applyConfiguration(value, change.object, served), { refuse });
    } catch (error) {
      if (error instanceof MutationError) this.#deny(error.message, change.invocation);
      else if (StatusError.is(error) && error.code === 413) {
        this.#deny(`error applying patch: the result is too large: ${error.message}`, change.invocation);
      } else throw error;
      return false;
    }
  }

  #deny(why: string, { policy, binding }: Invocation): void {
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`;
    this.#addDenial({ message, reason: 'Invalid' });
  }

  #misconfigured(error: unknown, policy: MutatingPolicy, binding: Invocation['binding'] | undefined): void {
    if (!(error instanceof ConfigurationError) && !StatusError.is(error)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const whose =
      binding === undefined ? `policy "${policy.name}"` : `policy '${policy.name}' with binding '${binding.name}'`;
    const what = `failed to configure ${binding === undefined ? 'policy' : 'binding'}`;
    this.#addDenial({ message: `${whose} denied request: ${what}: ${error.message}` });
  }

  /** Messages can contain texts of the object, and each parameter can have one. */
  #addDenial(denial: Denial): void {
    this.#denialCharacters += denial.message.length;
    if (this.#denials.length === 0 || this.#denialCharacters <= MAX_CHARACTERS) this.#denials.push(denial);
  }

  /** All denials become causes; the first one is the message. */
  #throwDenials(): void {
    const [first] = this.#denials;
    if (first === undefined) return;
    const { group, resource } = this.#request.served.gvr;
    const causes = this.#denials.map(({ message }) => ({ message }));
    const refused = errors.forbidden({ group, resource }, this.#request.name || 'Unknown', first.message, causes);
    const { reason = 'Forbidden', message } = first;
    throw failure({ reason, code: 403, message, details: refused.status.details });
  }
}

interface Change {
  readonly invocation: Invocation;
  readonly scope: Scope;
  readonly object: NonNullable<ExpressionInput['object']>;
}

/** Throws a {@link MutationError}. */
function evaluateMutation(mutation: CompiledMutation, scope: Scope) {
  if (mutation.compiled.error !== undefined) throw new MutationError(mutation.compiled.error.detail);
  const outcome = evaluateSet([mutation], scope, POLICY_BUDGET);
  if (outcome.stop !== undefined) throw new MutationError(outcome.stop);
  const [evaluation] = outcome.evaluations;
  if (evaluation === undefined || evaluation.error !== undefined) throw new MutationError(evaluation?.error);
  return evaluation.value;
}

/** The message for a merged object that does not decode to its kind. */
function unconvertible(why: string, { gvk }: ServedKind): string {
  const whole = /^json: cannot unmarshal number [^ ]+ into Go struct field [^ ]+ of type (u?int\d+)$/.exec(why);
  const reason = whole === null ? why : `cannot convert float64 to ${whole[1]}`;
  return `unable to convert unstructured object to ${printGvk(gvk)}: ${reason}`;
}

/** Identifies an invocation across reinvocation rounds. */
function keyOf({ policy, binding, params }: Invocation): string {
  const { name = '', namespace = '' } = (params?.['metadata'] ?? {}) as { name?: string; namespace?: string };
  return [policy.name, binding.name, namespace, name].join('\0');
}
