/**
 * Privilege escalation prevention: a user who writes a role must hold all its rules, and a user who binds a role must
 * hold the role's rules, unless a rule allows `escalate` or `bind`. The cluster's authorizer supplies the rules of the
 * user; an authorizer that allows everything allows this too. spec: Role
 */
import { errors, type StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { AccessRule } from '../../protocol/access.js';
import { quote } from '../../text/go/go-text.js';
import type { RoleRef } from '../generated/rbac-v1.js';
import type { StrategyContext } from '../kind.js';
import { isGarbageCollectionUpdate } from '../shared/strategies.js';
import { compactRules, missingRules, printRule, printStringList } from './coverage.js';
import { CLUSTER_ROLES, isAggregated, ownRules, RBAC_GROUP, roleOf, rulesOf } from './role-rules.js';

type Permit = (next: ApiObject, live: ApiObject | undefined, context: StrategyContext) => void;

/** Authorizes writes of roles. Throws Forbidden. */
export function authorizeRole(resource: 'roles' | 'clusterroles'): Permit {
  return (next, live, context) => {
    const { access, user, namespace, request, dialect } = context;
    const group = dialect.group(RBAC_GROUP);
    const { name = '' } = request;
    const escalate = { type: 'resource', verb: 'escalate', version: '*', subresource: '' } as const;
    if (access.decide(user, { group, resource, namespace, name, ...escalate }).allowed) return;
    if (live !== undefined && isGarbageCollectionUpdate(next, live)) return;
    const why = missingRulesMessage(ownRules(next), resource, context);
    if (why !== undefined) throw forbidden(next, resource, { why, context });
    // An aggregated role can include any rule, now or later.
    const gathers = isAggregated(next) || (live !== undefined && isAggregated(live));
    if (gathers && missingRulesMessage(EVERYTHING, resource, context) !== undefined) {
      throw forbidden(next, resource, {
        why: 'must have cluster-admin privileges to use the aggregationRule',
        context,
      });
    }
  };
}

/** Authorizes writes of bindings. Throws Forbidden, or NotFound if the role does not exist. */
export function authorizeBinding(resource: 'rolebindings' | 'clusterrolebindings'): Permit {
  return (next, live, context) => {
    if (live !== undefined && isGarbageCollectionUpdate(next, live)) return;
    const { access, user, namespace, objects, dialect } = context;
    const ref = next['roleRef'] as RoleRef;
    const { kind, name, apiGroup: group } = ref;
    const bound = kind === 'Role' ? 'roles' : 'clusterroles';
    const bind = { type: 'resource', verb: 'bind', version: '*', subresource: '' } as const;
    const isKnown = kind === 'Role' || kind === 'ClusterRole';
    if (isKnown && access.decide(user, { group, resource: bound, namespace, name, ...bind }).allowed) return;
    if (!isKnown) {
      // For administrators, validation reports it as invalid.
      if (user.groups?.includes('system:masters') === true) return;
      throw errors.plain(`unsupported role reference kind: ${quote(kind ?? '')}`);
    }
    const role = roleOf(objects, ref, namespace);
    // The reference server's message has the resource of the request, not of the role.
    if (role === undefined) throw errors.notFound({ group: dialect.group(RBAC_GROUP), resource }, name);
    const rules = rulesOf(role, () => objects.list(CLUSTER_ROLES));
    const why = missingRulesMessage(rules, resource, context);
    if (why !== undefined) throw forbidden(next, resource, { why, context });
  };
}

const EVERYTHING: readonly AccessRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

function forbidden(
  { metadata }: ApiObject,
  resource: string,
  options: { readonly why: string; readonly context: StrategyContext },
): StatusError {
  // A generated name is not known yet.
  const { name = '' }: { readonly name?: string } = metadata;
  return errors.forbidden({ group: options.context.dialect.group(RBAC_GROUP), resource }, name, options.why);
}

/** The message about rules that the user does not hold; undefined if the user holds all of them. */
function missingRulesMessage(
  wanted: readonly AccessRule[],
  resource: string,
  { access, user, namespace, dialect }: StrategyContext,
): string | undefined {
  const { resourceRules, nonResourceRules, missing = [] } = access.rules(user, namespace);
  const lacking = missingRules([...resourceRules, ...nonResourceRules], wanted);
  if (lacking.length === 0) return undefined;
  const who = `user ${quote(user.user)} (groups=${printStringList(user.groups ?? [])})`;
  const lines = [...new Set(compactRules(lacking).map(printRule))].sort();
  // As above, the message has the resource of the request.
  const group = dialect.group(RBAC_GROUP);
  const unresolved = aggregate(missing.map((name) => `${resource}.${group} ${quote(name)} not found`));
  const resolution = unresolved === '' ? '' : `; resolution errors: [${unresolved}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}${resolution}`;
}

/** Joins distinct errors to one message, as the reference server's aggregate error. */
export function aggregate(texts: readonly string[]): string {
  const [first = '', ...more] = new Set(texts);
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
}
