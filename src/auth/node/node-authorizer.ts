/**
 * The Node authorizer: allows the requests of kubelets. A kubelet is a user `system:node:NAME` in group `system:nodes`. It
 * reads only objects that its pods need, and its own Node, Lease and CSINode; everything else follows fixed rules.
 * Together with the NodeRestriction admission plugin, which limits its writes.
 */
import { initialClusterRoles } from '../../kinds/rbac/bootstrap/objects.js';
import { serviceGroup } from '../../meta/dialect.js';
import { qualifiedResource } from '../../meta/gvk.js';
import type {
  AccessAttributes,
  AccessDecision,
  AccessRule,
  AccessRules,
  ResourceAttributes,
} from '../../protocol/access.js';
import type { User } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import type { Authorizer, AuthorizerContext, AuthorizerFactory } from '../authorizer.js';
import { RuleTable } from '../rbac/rule-table.js';
import { NodeRelations, type RelatedResource } from './node-relations.js';

/**
 * Allows what kubelets may do. It has no opinion about other users, so combine it with another authorizer.
 *
 * @example
 * createCluster({ authorizer: unionAuthorizer(nodeAuthorizer(), rbac()) })
 */
export function nodeAuthorizer(): AuthorizerFactory {
  return (context) => new NodeAuthorizer(context);
}

const PREFIX = 'system:node:';
const NODES = 'system:nodes';
const LEASE_NAMESPACE = 'kube-node-lease';

/** True: allowed. A text: the reason for no opinion, visible to clients. */
type Answer = true | string;

type Check = (node: string, attributes: ResourceAttributes) => Answer;

class NodeAuthorizer implements Authorizer {
  readonly #relations: NodeRelations;
  readonly #rules = new RuleTable<true>(() => false);
  readonly #checks: ReadonlyMap<string, Check>;
  /** Lists need a field selector with the name of the node. */
  readonly #isSelective: boolean;

  constructor(context: AuthorizerContext) {
    const { dialect, features } = context;
    this.#relations = new NodeRelations(context);
    this.#rules.add(fixedRules(context), true);
    const named = (service: string, resource: string) =>
      qualifiedResource({ group: dialect.group(serviceGroup(service)), resource });
    this.#isSelective = features.enabled('AuthorizeNodeWithSelectors');
    const selective: [string, Check][] = [
      ['nodes', checkNode],
      ['pods', (node, attributes) => this.#checkPod(node, attributes)],
    ];
    this.#checks = new Map<string, Check>([
      ['secrets', (node, attributes) => this.#checkRead(node, 'secrets', attributes)],
      ['configmaps', (node, attributes) => this.#checkRead(node, 'configmaps', attributes)],
      ['persistentvolumeclaims', (node, attributes) => this.#checkClaim(node, attributes)],
      ['persistentvolumes', (node, attributes) => this.#checkGet(node, 'persistentvolumes', attributes)],
      ['serviceaccounts', (node, attributes) => this.#checkAccount(node, attributes)],
      [named('resource', 'resourceclaims'), (node, given) => this.#checkGet(node, 'resourceclaims', given)],
      [named('storage', 'volumeattachments'), (node, given) => this.#checkGet(node, 'volumeattachments', given)],
      [named('resource', 'resourceslices'), (node, given) => this.#checkSlice(node, given)],
      [named('coordination', 'leases'), checkLease],
      [named('storage', 'csinodes'), checkCsiNode],
      ...(this.#isSelective ? selective : []),
    ]);
  }

  decide(user: User, attributes: AccessAttributes): AccessDecision | boolean | undefined {
    const node = nodeOf(user);
    if (node === undefined) return undefined;
    if (node === '') return { allowed: false, reason: `unknown node for user ${quote(user.user)}` };
    const check = attributes.type === 'resource' ? this.#checks.get(qualifiedResource(attributes)) : undefined;
    const answer = check !== undefined && attributes.type === 'resource' ? check(node, attributes) : undefined;
    if (typeof answer === 'string') return { allowed: false, reason: answer };
    return answer ?? this.#rules.find(attributes);
  }

  /** The rules of a kubelet depend on its pods. */
  rules(user: User): AccessRules {
    const none = { resourceRules: [], nonResourceRules: [] };
    if (nodeOf(user) === undefined) return none;
    return { ...none, incomplete: true, error: 'node authorizer does not support user rule resolution' };
  }

  #checkRelation(node: string, resource: RelatedResource, attributes: ResourceAttributes): Answer {
    if (attributes.name === '') return 'No Object name found';
    return this.#relations.has(node, resource, attributes) || noRelation(node);
  }

  #checkRead(node: string, resource: RelatedResource, attributes: ResourceAttributes): Answer {
    if (!READS.includes(attributes.verb)) return 'can only read resources of this type';
    if (attributes.subresource !== '') return 'cannot read subresource';
    if (attributes.namespace === '') return 'can only read namespaced object of this type';
    return this.#checkRelation(node, resource, attributes);
  }

  #checkGet(node: string, resource: RelatedResource, attributes: ResourceAttributes): Answer {
    if (attributes.verb !== 'get') return 'can only get individual resources of this type';
    if (attributes.subresource !== '') return 'cannot get subresource';
    return this.#checkRelation(node, resource, attributes);
  }

  #checkClaim(node: string, attributes: ResourceAttributes): Answer {
    if (attributes.subresource !== 'status') return this.#checkGet(node, 'persistentvolumeclaims', attributes);
    if (!CHANGES.includes(attributes.verb)) return 'can only get/update/patch this type';
    return this.#checkRelation(node, 'persistentvolumeclaims', attributes);
  }

  #checkAccount(node: string, attributes: ResourceAttributes): Answer {
    const { verb, subresource, name } = attributes;
    if (verb === 'get' && subresource === '') return 'not allowed to get service accounts';
    if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts';
    if (subresource !== 'token') return 'can only create token subresource of serviceaccount';
    return this.#relations.has(node, 'serviceaccounts', attributes) || noRelation(node);
  }

  #checkSlice(node: string, attributes: ResourceAttributes): Answer {
    const { verb, subresource } = attributes;
    if (subresource !== '') return 'cannot authorize ResourceSlice subresources';
    // The node of a new slice is checked by NodeRestriction.
    if (verb === 'create') return true;
    if (['get', 'update', 'patch', 'delete'].includes(verb)) {
      return this.#checkRelation(node, 'resourceslices', attributes);
    }
    if (['watch', 'list', 'deletecollection'].includes(verb)) {
      if (!this.#isSelective || selects(attributes, 'spec.nodeName', node)) return true;
      return 'can only list/watch/deletecollection resourceslices with nodeName field selector';
    }
    return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection';
  }

  #checkPod(node: string, attributes: ResourceAttributes): Answer {
    const { verb, subresource, name } = attributes;
    if (subresource === 'status') return CHANGES.includes(verb) || '';
    if (subresource === 'eviction') return verb === 'create' || '';
    if (subresource !== '') return '';
    if (verb === 'get') return this.#checkGet(node, 'pods', attributes);
    if (verb === 'create' || verb === 'delete') return true;
    if (verb !== 'list' && verb !== 'watch') return '';
    if (selects(attributes, 'spec.nodeName', node)) return true;
    if (name !== '') return this.#checkRelation(node, 'pods', attributes);
    return 'can only list/watch pods with spec.nodeName field selector';
  }
}

/** The rules of ClusterRole system:node. */
function fixedRules({ dialect, features }: AuthorizerContext): readonly AccessRule[] {
  const role = initialClusterRoles(dialect).find(({ metadata }) => metadata.name === 'system:node');
  const rules = (role?.['rules'] ?? []) as readonly AccessRule[];
  if (!features.enabled('ClusterTrustBundle')) return rules;
  const apiGroups = [dialect.group(serviceGroup('certificates'))];
  return [...rules, { verbs: READS, apiGroups, resources: ['clustertrustbundles'] }];
}

const READS = ['get', 'list', 'watch'];
const CHANGES = ['update', 'patch'];
const OWN_OBJECT_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

/** The name in `system:node:NAME`; undefined for other users. */
function nodeOf({ user, groups = [] }: User): string | undefined {
  return user.startsWith(PREFIX) && groups.includes(NODES) ? user.slice(PREFIX.length) : undefined;
}

function noRelation(node: string): string {
  return `no relationship found between node '${node}' and this object`;
}

/** Whether a field selector requires this value. */
function selects({ fieldSelector = [] }: ResourceAttributes, field: string, value: string): boolean {
  return fieldSelector.some(
    ({ key, operator, values }) => key === field && operator === 'In' && values.length === 1 && values[0] === value,
  );
}

/** A node may read its Node before it exists, so names are compared. NodeRestriction limits writes. */
function checkNode(node: string, { verb, subresource, name }: ResourceAttributes): Answer {
  if (subresource === 'status') return CHANGES.includes(verb) || '';
  if (subresource !== '') return '';
  if (verb === 'create' || CHANGES.includes(verb)) return true;
  if (!READS.includes(verb)) return '';
  if (name === node) return true;
  const what = name === '' ? 'all nodes' : `'${name}'`;
  return `node '${node}' cannot read ${what}, only its own Node object`;
}

/** The name of a new object is unknown here; NodeRestriction checks it. */
function checkLease(node: string, { verb, namespace, name }: ResourceAttributes): Answer {
  if (!OWN_OBJECT_VERBS.includes(verb)) return 'can only get, create, update, patch, or delete a node lease';
  if (namespace !== LEASE_NAMESPACE) return `can only access leases in the ${quote(LEASE_NAMESPACE)} system namespace`;
  if (verb === 'create' || name === node) return true;
  return 'can only access node lease with the same name as the requesting node';
}

function checkCsiNode(node: string, { verb, subresource, name }: ResourceAttributes): Answer {
  if (!OWN_OBJECT_VERBS.includes(verb)) return 'can only get, create, update, patch, or delete a CSINode';
  if (subresource !== '') return 'cannot authorize CSINode subresources';
  if (verb === 'create' || name === node) return true;
  return 'can only access CSINode with the same name as the requesting node';
}
