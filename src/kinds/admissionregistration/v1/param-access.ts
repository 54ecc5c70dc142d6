/**
 * Who writes a policy with parameters lets it read them in his name, and who binds one says which: both must be allowed
 * to read those objects themselves. spec: ValidatingAdmissionPolicy
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

/** Throws 422 for a policy whose parameters its writer may not read. A kind of parameters that stays is not asked about again. */
export function permitParamKind(next: ApiObject, live: ApiObject | undefined, context: StrategyContext): void {
  const { paramKind } = (next as unknown as PolicyWithParams).spec;
  if (paramKind === undefined) return;
  const before = (live as unknown as PolicyWithParams | undefined)?.spec.paramKind;
  if (before !== undefined && deepEqual(before, paramKind)) return;
  const { kind = '', apiVersion = '' } = paramKind;
  const decision = decide(context, targetOf(paramKind, context), { verb: 'get', namespace: '*', name: '*' });
  if (decision.error !== undefined) throw refusal(next, context, { field: 'spec.paramKind', why: decision.error });
  if (decision.allowed) return;
  const why = `user ${userText(context.user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw refusal(next, context, { field: 'spec.paramKind', why });
}

/** How the two kinds of bindings word what they refuse; they should not differ, but do. */
export interface BindingWords {
  /** Of the policies that they bind. */
  readonly policies: string;
  readonly failed: (error: string) => string;
  readonly refused: (user: string, verb: string) => string;
}

/** The same for bindings, which name the parameters. It is asked with every write. */
export function permitParamRef(words: BindingWords) {
  return (next: ApiObject, _live: ApiObject | undefined, context: StrategyContext): void => {
    const { paramRef, policyName = '' } = (next as unknown as BindingWithParams).spec;
    if (paramRef === undefined) return;
    const { name = '', namespace = '' } = paramRef;
    const policy = context.objects.get({ group: GROUP, resource: words.policies, namespace: '', name: policyName });
    const paramKind = (policy as unknown as PolicyWithParams | undefined)?.spec.paramKind;
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

export const VALIDATING_BINDINGS: BindingWords = {
  policies: 'validatingadmissionpolicies',
  failed: (error) => `failed to authorize request: ${error}`,
  refused: (user, verb) => `user ${user} does not have "${verb}" permission on the object referenced by paramRef`,
};

export const MUTATING_BINDINGS: BindingWords = {
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

/** Whoever may read everything may read what nobody knows. */
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

/** As the reference server happens to print somebody: `&{alice  [system:authenticated] map[]}`. */
function userText({ user, uid = '', groups = [], extra = {} }: User): string {
  return `&{${user} ${uid} ${printGoValue(groups)} ${printGoValue(extra)}}`;
}
