/**
 * MutatingAdmissionPolicy: changes requests by the policies that are bound. Which of them apply is settled first, then
 * they change the object one after the other, by the names of policies and bindings. spec: MutatingAdmissionPolicy
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, failure, StatusError } from '../../meta/errors.js';
import { printGvk } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { StatusReason } from '../../meta/status.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { asleepWithout } from '../asleep.js';
import { evaluateSet, POLICY_BUDGET, type Scope, VariableValues } from '../cel/evaluate.js';
import { type ExpressionInput, namespaceObject, variablesOf } from '../cel/input.js';
import { judgeConditions } from '../cel/match-conditions.js';
import { formBelow } from '../match/form.js';
import { isNeverSeenByPolicies, matchResources, namespaceOf } from '../match/match.js';
import { Reinvocation } from '../match/reinvocation.js';
import { type Shown, ShownObject } from '../match/shown-object.js';
import type { Match } from '../match/types.js';
import { ConfigurationError, findParams, servedParamKind } from '../policy/params.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { applyConfiguration, applyPatchSteps, MutationError } from './mutations.js';
import { BINDINGS, type Binding, type BoundPolicy, boundPolicies, type CompiledMutation } from './policies.js';

export const mutatingAdmissionPolicy: AdmissionPlugin = /* @__PURE__ */ asleepWithout([BINDINGS], {
  name: 'MutatingAdmissionPolicy',
  looksAt: (served: ServedKind) => !isNeverSeenByPolicies(served),
  connects: true,
  changesNothing: (view: ClusterView) => boundPolicies(view).length === 0,
  // Conversions may have to be waited for.
  mayWait: (_served: ServedKind, view: ClusterView) => boundPolicies(view).length > 0,
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (request.operation === 'DELETE' || boundPolicies(view).length === 0) return undefined;
  return new Session(request, view).run();
}

/** A policy with a binding and a parameter: one change to be made. */
interface Invocation {
  readonly policy: BoundPolicy;
  readonly binding: Binding;
  readonly match: Match;
  readonly params: ExpressionInput['params'];
}

interface Denial {
  readonly message: string;
  /** Absent for what is wrong with a policy or a binding as such. */
  readonly reason?: StatusReason;
}

/** One request on its way past all policies. */
class Session {
  readonly #request: AdmissionRequest<DraftObject>;
  readonly #view: ClusterView;
  readonly #shown: ShownObject;
  readonly #reinvocation: Reinvocation;
  readonly #denials: Denial[] = [];

  constructor(request: AdmissionRequest<DraftObject>, view: ClusterView) {
    this.#request = request;
    this.#view = view;
    this.#shown = new ShownObject(request, view);
    this.#reinvocation = Reinvocation.of(mutatingAdmissionPolicy, request.rounds);
  }

  async run(): Promise<void> {
    const invocations: Invocation[] = [];
    for (const policy of boundPolicies(this.#view)) invocations.push(...(await this.#invocationsOf(policy)));
    if (invocations.length > 0) await this.#runAll(invocations);
    this.#refuse();
  }

  async #runAll(invocations: readonly Invocation[]): Promise<void> {
    const { object } = this.#request;
    this.#reinvocation.begin(object);
    try {
      const namespace = namespaceOf(this.#request, this.#view);
      for (const invocation of invocations) await this.#runOne(invocation, namespace);
      // Even a change that changed nothing is reason enough to look again.
      if (this.#shown.isDirty) this.#reinvocation.changed();
      await this.#shown.finish();
    } finally {
      this.#reinvocation.end(object);
    }
  }

  async #invocationsOf(policy: BoundPolicy): Promise<readonly Invocation[]> {
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
        const about = { kind: spec.paramKind, served: paramKind, ref };
        const all = await findParams(about, this.#request.namespace, this.#view);
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
      // Conditions know nothing of the namespace, and see the resource as it was asked for.
      const input = { ...(await this.#input(invocation)), resource: this.#request.served.gvr };
      const scope = scopeOf(policy, variablesOf(input, { authorizer: true }));
      const verdict = judgeConditions(compiled.conditions, policy.spec.failurePolicy, scope);
      if (verdict.error !== undefined) return this.#deny(verdict.error, invocation);
      if (!verdict.matches) return undefined;
    }
    const key = keyOf(invocation);
    if (!this.#reinvocation.isAsked(key)) return undefined;
    let isChanged = false;
    for (const mutation of compiled.mutations) {
      // Each sees what the one before it has made.
      const input = await this.#input(invocation);
      if (input.object === undefined) continue;
      const given = variablesOf(input, {
        authorizer: true,
        namespaceObject: namespace === undefined ? undefined : namespaceObject(namespace),
      });
      isChanged =
        this.#change(mutation, { invocation, scope: scopeOf(policy, given), object: input.object }) || isChanged;
    }
    if (isChanged) this.#reinvocation.changed();
    if (policy.spec.reinvocationPolicy === 'IfNeeded') this.#reinvocation.wantsAgain(key);
    return undefined;
  }

  async #input({ match, params }: Invocation): Promise<ExpressionInput> {
    const shown: Shown = await this.#shown.in(match);
    const { object, oldObject } = shown;
    const { kind, resource } = shown.match;
    return { request: this.#request, view: this.#view, kind, resource, object, oldObject, params };
  }

  /** Says whether anything is different. */
  #change(mutation: CompiledMutation, about: Change): boolean {
    try {
      const value = evaluated(mutation, about.scope);
      if (mutation.type === 'JSONPatch') {
        return this.#shown.take(applyPatchSteps(value, about.object), { strict: true });
      }
      const { matched, subresource, kind } = about.invocation.match;
      const form = formBelow(matched, subresource);
      if (form === undefined) {
        const why = `no corresponding type for ${printGvk(kind)}`;
        throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${why}`);
      }
      const refuse = (why: string, cause: unknown) => new MutationError(unconvertible(why, form), { cause });
      return this.#shown.take(applyConfiguration(value, about.object, form), { refuse });
    } catch (error) {
      if (!(error instanceof MutationError)) throw error;
      this.#deny(error.message, about.invocation);
      return false;
    }
  }

  #deny(why: string, { policy, binding }: Invocation): void {
    if (policy.spec.failurePolicy === 'Ignore') return;
    const message = `policy '${policy.name}' with binding '${binding.name}' denied request: ${why}`;
    this.#denials.push({ message, reason: 'Invalid' });
  }

  #misconfigured(error: unknown, policy: BoundPolicy, binding: Binding | undefined): void {
    if (!(error instanceof ConfigurationError) && !StatusError.is(error)) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const whose =
      binding === undefined ? `policy "${policy.name}"` : `policy '${policy.name}' with binding '${binding.name}'`;
    const what = `failed to configure ${binding === undefined ? 'policy' : 'binding'}`;
    this.#denials.push({ message: `${whose} denied request: ${what}: ${error.message}` });
  }

  /** All of them are told; the first gives the answer its message. */
  #refuse(): void {
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

function scopeOf(policy: BoundPolicy, given: Scope['given']): Scope {
  const { variables } = policy.compiled();
  return variables.size === 0 ? { given } : { given, variables: new VariableValues(variables, given) };
}

/** Throws a {@link MutationError}. */
function evaluated(mutation: CompiledMutation, scope: Scope) {
  if (mutation.compiled.error !== undefined) throw new MutationError(mutation.compiled.error.detail);
  const outcome = evaluateSet([mutation], scope, POLICY_BUDGET);
  if (outcome.stop !== undefined) throw new MutationError(outcome.stop);
  const [evaluation] = outcome.evaluations;
  if (evaluation === undefined || evaluation.error !== undefined) throw new MutationError(evaluation?.error);
  return evaluation.value;
}

/** What a field will not have is noticed when the merged object becomes one of its kind again. */
function unconvertible(why: string, { gvk }: ServedKind): string {
  const whole = /^json: cannot unmarshal number [^ ]+ into Go struct field [^ ]+ of type (u?int\d+)$/.exec(why);
  const reason = whole === null ? why : `cannot convert float64 to ${whole[1]}`;
  return `unable to convert unstructured object to ${printGvk(gvk)}: ${reason}`;
}

/** The identity of an invocation from one round to the next. */
function keyOf({ policy, binding, params }: Invocation): string {
  const { name = '', namespace = '' } = (params?.['metadata'] ?? {}) as { name?: string; namespace?: string };
  return [policy.name, binding.name, namespace, name].join('\0');
}
