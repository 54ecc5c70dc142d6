/**
 * The RBAC authorizer: roles contain rules, bindings grant roles to subjects. spec: Role
 *
 * Roles and bindings are read from the cluster and cached until something is written. The cost of a decision depends on
 * the subject's own bindings and the rules for the resource, not on the total number of bindings.
 */

import { aggregate } from '../../kinds/rbac/escalation.js';
import { CLUSTER_ROLE_BINDINGS, RBAC_GROUP, ROLE_BINDINGS } from '../../kinds/rbac/role-rules.js';
import type { AccessAttributes, AccessDecision, AccessRule, AccessRules } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { copyText } from '../../util/copy-text.js';
import type { Authorizer, AuthorizerContext, AuthorizerFactory } from '../authorizer.js';
import { type Binding, Bindings, Grant } from './bindings.js';
import { type Report, type Role, Roles } from './roles.js';

/**
 * Allows exactly what roles grant.
 *
 * @example
 * createCluster({ authorizer: rbac() })
 */
export function rbac(): AuthorizerFactory {
  return (context) => new RbacAuthorizer(context);
}

/** The number of cached namespaces; reviews may ask about namespaces that do not exist. */
const MAX_NAMESPACES = 10_000;
const LONGEST_NAMESPACE = 253;
/** After so many reports, objects are reported again. */
const MAX_REPORTED = 10_000;
/** The reference server lists the rules of a role once for each binding to it. Beyond this length they are not repeated. */
const MAX_REPEATED_CHARACTERS = 2 ** 20;
const NO_BINDINGS = new Bindings('', () => undefined);

class RbacAuthorizer implements Authorizer {
  readonly #context: AuthorizerContext;
  readonly #roles: Roles;
  readonly #cluster: Bindings;
  readonly #namespaces = new Map<string, Bindings>();
  /** The uids of roles and bindings that were reported. */
  readonly #reported = new Set<string>();

  constructor(context: AuthorizerContext) {
    this.#context = context;
    this.#cluster = new Bindings('', this.#reportUnreadable);
    this.#roles = new Roles(context, this.#reportUnreadable);
  }

  decide(user: User, attributes: AccessAttributes): AccessDecision | undefined {
    const roles = this.#roles;
    roles.refresh();
    const everywhere = this.#clusterBindings().authorize(user, attributes, roles);
    if (everywhere instanceof Grant) return everywhere.decision;
    let dangling = everywhere;
    if (attributes.type === 'resource' && attributes.namespace !== '') {
      const here = this.#namespaceBindings(attributes.namespace).authorize(user, attributes, roles);
      if (here instanceof Grant) return here.decision;
      if (here.length > 0) dangling = [...dangling, ...here];
    }
    if (dangling.length === 0) return undefined;
    return { allowed: false, reason: `RBAC: ${this.#danglingMessage(dangling)}` };
  }

  rules(user: User, namespace: string): AccessRules {
    this.#roles.refresh();
    const resourceRules: AccessRule[] = [];
    const nonResourceRules: AccessRule[] = [];
    const dangling: Binding[] = [];
    const listed = new Set<Role>();
    let repeated = 0;
    for (const binding of this.#bindingsOf(user, namespace)) {
      const role = binding.role(this.#roles);
      if (role === undefined) {
        dangling.push(binding);
        continue;
      }
      if (listed.has(role)) repeated += role.characters;
      if (listed.has(role) && repeated > MAX_REPEATED_CHARACTERS) continue;
      listed.add(role);
      for (const rule of role.rules) {
        if ((rule.resources ?? []).length > 0) resourceRules.push(rule);
        else nonResourceRules.push(rule);
      }
    }
    if (dangling.length === 0) return { resourceRules, nonResourceRules };
    const missing = dangling.map((binding) => binding.reference.name);
    return { resourceRules, nonResourceRules, error: this.#danglingMessage(dangling), missing };
  }

  /** Cluster role bindings first, then those of the namespace. */
  #bindingsOf(user: User, namespace: string): readonly Binding[] {
    const everywhere = this.#clusterBindings().bindingsOf(user);
    return namespace === '' ? everywhere : [...everywhere, ...this.#namespaceBindings(namespace).bindingsOf(user)];
  }

  #clusterBindings(): Bindings {
    const present = this.#context.lastChange(CLUSTER_ROLE_BINDINGS);
    if (present !== this.#cluster.version) {
      this.#cluster.update(this.#context.objects.list(CLUSTER_ROLE_BINDINGS));
      this.#cluster.version = present;
    }
    return this.#cluster;
  }

  #namespaceBindings(namespace: string): Bindings {
    let bindings = this.#namespaces.get(namespace);
    if (bindings === undefined) {
      // A longer one does not exist. What is kept must not share memory with the URL or body that contains it.
      if (namespace.length > LONGEST_NAMESPACE) return NO_BINDINGS;
      if (this.#namespaces.size >= MAX_NAMESPACES) this.#namespaces.clear();
      const kept = copyText(namespace);
      bindings = new Bindings(kept, this.#reportUnreadable);
      this.#namespaces.set(kept, bindings);
    }
    const present = this.#context.lastChange(ROLE_BINDINGS);
    if (present !== bindings.version) {
      bindings.update(this.#context.objects.list(ROLE_BINDINGS, namespace));
      bindings.version = present;
    }
    return bindings;
  }

  /** Stored objects need not be valid: one that cannot be read must not stop the decisions about other users. */
  readonly #reportUnreadable: Report = ({ kind, metadata: { uid, name, namespace } }, parts) => {
    if (this.#reported.has(uid)) return;
    if (this.#reported.size >= MAX_REPORTED) this.#reported.clear();
    this.#reported.add(uid);
    const place = namespace === undefined ? name : `${namespace}/${name}`;
    this.#context.warn?.(`${kind} ${quote(place)} has ${parts} that cannot be read; they are ignored`);
  };

  /** The message for bindings to roles that do not exist. */
  #danglingMessage(dangling: readonly Binding[]): string {
    const group = this.#context.dialect.group(RBAC_GROUP);
    const messages = dangling.map(({ reference: { kind, name } }) => {
      return `${kind.toLowerCase()}.${group} ${quote(name)} not found`;
    });
    return aggregate(messages);
  }
}
