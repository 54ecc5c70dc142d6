/**
 * A node may write what is its own, and nothing else: its Node, its Lease and its CSINode, the status of its pods, mirrors
 * of the pods that it runs by itself, tokens for its pods. Rules about access can name resources, but not whose they are.
 * spec: Node
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { DraftObject } from '../../../meta/object.js';
import type { User } from '../../../protocol/request.js';
import { quote } from '../../../text/go/go-text.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../../types.js';
import { refuse } from '../refuse.js';
import { checkNode } from './nodes.js';
import { checkClaim, checkCsiNode, checkLease, checkRequest, checkSlice } from './own-objects.js';
import { checkPod } from './pods.js';
import { checkToken } from './tokens.js';

/** A request of a node. */
export interface NodeRequest {
  readonly node: string;
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
}

type NodeCheck = (asked: NodeRequest) => void;

/** By canonical group and plural. */
const CHECKS: readonly (readonly [group: string, resource: string, check: NodeCheck])[] = [
  ['', 'pods', checkPod],
  ['', 'nodes', checkNode],
  ['', 'persistentvolumeclaims', checkClaim],
  ['', 'serviceaccounts', checkToken],
  [serviceGroup('coordination'), 'leases', checkLease],
  [serviceGroup('storage'), 'csinodes', checkCsiNode],
  [serviceGroup('resource'), 'resourceslices', checkSlice],
  [serviceGroup('certificates'), 'certificatesigningrequests', checkRequest],
];

export const nodeRestriction: AdmissionPlugin = Object.freeze({
  name: 'NodeRestriction',
  isBuiltIn: true,
  changesNothing: true,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    const node = nodeOf(request.user);
    if (node === undefined) return;
    if (node === '') throw refuse(request, `could not determine node from user ${quote(request.user.user)}`);
    const { kind } = request.served;
    const check = CHECKS.find(([group, resource]) => kind.group === group && kind.names.plural === resource);
    check?.[2]({ node, request, view });
  },
});

const PREFIX = 'system:node:';
const NODES = 'system:nodes';

/** The name in `system:node:NAME`; undefined for everybody else. */
function nodeOf({ user, groups = [] }: User): string | undefined {
  return user.startsWith(PREFIX) && groups.includes(NODES) ? user.slice(PREFIX.length) : undefined;
}
