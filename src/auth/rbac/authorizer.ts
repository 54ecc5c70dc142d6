/**
 * RBAC: roles say what may be done, bindings say who has them. spec: RBAC
 *
 * What it goes by is read from the cluster, and read again only where something was written. A question costs a look at
 * who asks and at the rules for the resource in question, however many bindings there are.
 */

import { aggregate } from '../../kinds/rbac/escalation.js';
import { CLUSTER_ROLE_BINDINGS, RBAC_GROUP, ROLE_BINDINGS } from '../../kinds/rbac/role-rules.js';
import type { AccessAttributes, AccessDecision, AccessRule, AccessRules } from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import type { Authorizer, AuthorizerFactory, AuthorizerSetting } from '../authorizer.js';
import { type Binding, Bindings, Grant } from './bindings.js';
import { Roles } from './roles.js';

/**
 * Whoever is given a role may do what it says, and nobody anything else.
 *
 * @example
 * createCluster({ authorizer: rbac() })
 */
export function rbac(): AuthorizerFactory {
  return (setting) => new RbacAuthorizer(setting);
}

/** Reviews may ask about namespaces that never were; so many are remembered. */
const MOST_NAMESPACES = 10_000;

class RbacAuthorizer implements Authorizer {
  readonly #setting: AuthorizerSetting;
  readonly #roles: Roles;
  readonly #cluster = new Bindings('');
  readonly #namespaces = new Map<string, Bindings>();

  constructor(setting: AuthorizerSetting) {
    this.#setting = setting;
    this.#roles = new Roles(setting);
  }

  decide(user: User, attributes: AccessAttributes): AccessDecision | undefined {
    const roles = this.#roles;
    roles.look();
    const everywhere = this.#everywhere().ask(user, attributes, roles);
    if (everywhere instanceof Grant) return everywhere.decision;
    let dangling = everywhere;
    if (attributes.type === 'resource' && attributes.namespace !== '') {
      const here = this.#in(attributes.namespace).ask(user, attributes, roles);
      if (here instanceof Grant) return here.decision;
      if (here.length > 0) dangling = [...dangling, ...here];
    }
    if (dangling.length === 0) return undefined;
    return { allowed: false, reason: `RBAC: ${this.#told(dangling)}` };
  }

  rules(user: User, namespace: string): AccessRules {
    this.#roles.look();
    const resourceRules: AccessRule[] = [];
    const nonResourceRules: AccessRule[] = [];
    const dangling: Binding[] = [];
    for (const binding of this.#bindingsOf(user, namespace)) {
      const role = binding.role(this.#roles);
      if (role === undefined) dangling.push(binding);
      for (const rule of role?.rules ?? []) {
        if ((rule.resources ?? []).length > 0) resourceRules.push(rule);
        else nonResourceRules.push(rule);
      }
    }
    if (dangling.length === 0) return { resourceRules, nonResourceRules };
    const missing = dangling.map((binding) => binding.reference.name);
    return { resourceRules, nonResourceRules, error: this.#told(dangling), missing };
  }

  /** Those of the cluster, then those of the namespace. */
  #bindingsOf(user: User, namespace: string): readonly Binding[] {
    const everywhere = this.#everywhere().of(user);
    return namespace === '' ? everywhere : [...everywhere, ...this.#in(namespace).of(user)];
  }

  #everywhere(): Bindings {
    const present = this.#setting.changes(CLUSTER_ROLE_BINDINGS);
    if (present !== this.#cluster.lookedAt) {
      this.#cluster.update(this.#setting.objects.list(CLUSTER_ROLE_BINDINGS));
      this.#cluster.lookedAt = present;
    }
    return this.#cluster;
  }

  #in(namespace: string): Bindings {
    let bindings = this.#namespaces.get(namespace);
    if (bindings === undefined) {
      if (this.#namespaces.size >= MOST_NAMESPACES) this.#namespaces.clear();
      bindings = new Bindings(namespace);
      this.#namespaces.set(namespace, bindings);
    }
    const present = this.#setting.changes(ROLE_BINDINGS);
    if (present !== bindings.lookedAt) {
      bindings.update(this.#setting.objects.list(ROLE_BINDINGS, namespace));
      bindings.lookedAt = present;
    }
    return bindings;
  }

  /** Bindings to roles that do not exist, in words. */
  #told(dangling: readonly Binding[]): string {
    const group = this.#setting.dialect.group(RBAC_GROUP);
    const told = dangling.map(({ reference: { kind, name } }) => {
      return `${kind.toLowerCase()}.${group} ${quote(name)} not found`;
    });
    return aggregate(told);
  }
}
