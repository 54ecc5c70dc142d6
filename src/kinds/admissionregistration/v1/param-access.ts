/**
 * Authorizes writes of policies and bindings with parameters: the user must be allowed to read the parameter objects.
 * spec: ValidatingAdmissionPolicy
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { errors, type StatusError } from '../../../meta/errors.js';
import { forbidden } from '../../../meta/field-error.js';
import { parseApiVersion } from '../../../meta/gvk.js';
import type { ApiObject } from '../../../meta/object.js';
import type { AccessDecision } from '../../../protocol/access.js';
import type { User } from '../../../protocol/request.js';
import { printGoValue } from '../../../text/go/go-value.js';
import { deepEqual } from '../../../util/json.js';
import type { ParamKind, ParamRef } from '../../generated/admissionregistration-v1.js';
import type { StrategyContext } from '../../kind.js';

const GROUP = serviceGroup('admissionregistration');

interface PolicyWithParams {
  readonly spec: { readonly paramKind?: ParamKind };
}

interface BindingWithParams {
  readonly spec: { readonly policyName?: string; readonly paramRef?: ParamRef };
}

/** Throws 422 if the user may not read the policy's parameters. An unchanged paramKind is not authorized again. */
export function authorizeParamKind(
  next: ApiObject & PolicyWithParams,
  live: PolicyWithParams | undefined,
  context: StrategyContext,
): void {
  const { paramKind } = next.spec;
  if (paramKind === undefined) return;
  const before = live?.spec.paramKind;
  if (before !== undefined && deepEqual(before, paramKind)) return;
  const { kind = '', apiVersion = '' } = paramKind;
  const decision = decide(context, targetOf(paramKind, context), { verb: 'get', namespace: '*', name: '*' });
  if (decision.error !== undefined) throw refusal(next, context, { field: 'spec.paramKind', why: decision.error });
  if (decision.allowed) return;
  const why = `user ${userText(context.user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw refusal(next, context, { field: 'spec.paramKind', why });
}

/** The messages of the two binding kinds, which differ in the reference server. */
export interface BindingMessages {
  /** The resource of the bound policies. */
  readonly policies: string;
  readonly failed: (error: string) => string;
  readonly refused: (user: string, verb: string) => string;
}

/** Throws 422 if the user may not read the parameters that a binding references. Runs on every write. */
export function authorizeParamRef(words: BindingMessages) {
  return (next: ApiObject & BindingWithParams, _live: object | undefined, context: StrategyContext): void => {
    const { paramRef, policyName = '' } = next.spec;
    if (paramRef === undefined) return;
    const { name = '', namespace = '' } = paramRef;
    const policy = context.objects.get({ group: GROUP, resource: words.policies, namespace: '', name: policyName });
    const paramKind = (policy as (ApiObject & PolicyWithParams) | undefined)?.spec.paramKind;
    const target = targetOf(paramKind, context);
    const verb = name === '' ? 'list' : 'get';
    const decision = decide(context, target, { verb, namespace, name });
    const refuse = (why: string) => refusal(next, context, { field: 'spec.paramRef', why });
    if (decision.error !== undefined) throw refuse(words.failed(decision.error));
    if (decision.allowed) return;
    const user = userText(context.user);
    const everything = `to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`;
    if (policy === undefined) throw refuse(`unable to get policy ${policyName} ${everything}`);
    if (paramKind !== undefined && !target.isKnown) {
      throw refuse(
        `unable to resolve paramKind &{${paramKind.apiVersion ?? ''} ${paramKind.kind ?? ''}} ${everything}`,
      );
    }
    throw refuse(words.refused(user, verb));
  };
}

/** The messages of ValidatingAdmissionPolicyBindings. */
export const VALIDATING_BINDINGS: BindingMessages = {
  policies: 'validatingadmissionpolicies',
  failed: (error) => `failed to authorize request: ${error}`,
  refused: (user, verb) => `user ${user} does not have "${verb}" permission on the object referenced by paramRef`,
};

/** The messages of MutatingAdmissionPolicyBindings; the reference server swaps user and verb. */
export const MUTATING_BINDINGS: BindingMessages = {
  policies: 'mutatingadmissionpolicies',
  failed: (error) => error,
  refused: (user, verb) => `user ${verb} does not have "${user}" permission on the object referenced by paramRef`,
};

interface Target {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly isKnown: boolean;
}

/** The resource of a parameter kind; `*` if it is unknown, so that only users who may read everything are allowed. */
function targetOf(paramKind: ParamKind | undefined, { objects }: StrategyContext): Target {
  const gv = paramKind === undefined ? undefined : parseApiVersion(paramKind.apiVersion ?? '');
  if (gv === undefined) return { group: '*', version: '*', resource: '*', isKnown: false };
  const resource = objects.resourceOf({ ...gv, kind: paramKind?.kind ?? '' });
  return { ...gv, resource: resource ?? '*', isKnown: resource !== undefined };
}

function decide(
  { access, user }: StrategyContext,
  { group, version, resource }: Target,
  what: { readonly verb: string; readonly namespace: string; readonly name: string },
): AccessDecision {
  return access.decide(user, { type: 'resource', group, version, resource, subresource: '', ...what });
}

function refusal(
  { kind, metadata }: ApiObject,
  { dialect }: StrategyContext,
  { field, why }: { readonly field: string; readonly why: string },
): StatusError {
  return errors.invalid({ group: dialect.group(GROUP), kind }, metadata.name ?? '', [forbidden(field, why)]);
}

/** Prints a user as the reference server does: `&{alice  [system:authenticated] map[]}`. */
function userText({ user, uid = '', groups = [], extra = {} }: User): string {
  return `&{${user} ${uid} ${printGoValue(groups)} ${printGoValue(extra)}}`;
}
