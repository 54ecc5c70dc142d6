/**
 * What a node may say about itself. Where pods go is decided by labels and taints, so that those are not a node's to choose.
 */
import type { Dialect } from '../../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { quote } from '../../../text/go/go-text.js';
import { deepEqual, own } from '../../../util/json.js';
import { refuse } from '../refuse.js';
import type { NodeRequest } from './node-restriction.js';

export function checkNode(asked: NodeRequest): void {
  const { node, request } = asked;
  if (request.sentName !== node) {
    throw refuse(request, `node ${quote(node)} is not allowed to modify node ${quote(request.sentName)}`);
  }
  const problem =
    request.operation === 'CREATE'
      ? newProblem(asked)
      : request.operation === 'UPDATE'
        ? changeProblem(asked)
        : undefined;
  if (problem !== undefined) throw refuse(request, problem);
}

interface NodeSpec {
  readonly configSource?: unknown;
  readonly taints?: readonly unknown[];
}

function specOf(object: DraftObject | ApiObject | undefined): NodeSpec {
  return (object?.['spec'] ?? {}) as NodeSpec;
}

function newProblem({ node, request, view }: NodeRequest): string | undefined {
  if (specOf(request.object).configSource !== undefined) {
    return `node ${quote(node)} is not allowed to create pods with a non-nil configSource`;
  }
  const labels = forbiddenLabels(request.object?.metadata.labels ?? {}, {}, view.dialect);
  if (labels.length === 0) return undefined;
  return `node ${quote(node)} is not allowed to set the following labels: ${labels.join(', ')}`;
}

function changeProblem({ node, request, view }: NodeRequest): string | undefined {
  const { object, oldObject } = request;
  const [next, live] = [specOf(object), specOf(oldObject)];
  const mayNot = `node ${quote(node)} is not allowed to`;
  if (next.configSource !== undefined && !deepEqual(next.configSource, live.configSource)) {
    return `${mayNot} update configSource to a new non-nil configSource`;
  }
  if (!deepEqual(next.taints ?? [], live.taints ?? [])) return `${mayNot} modify taints`;
  if (!deepEqual(object?.metadata.ownerReferences ?? [], oldObject?.metadata.ownerReferences ?? [])) {
    return `${mayNot} modify ownerReferences`;
  }
  const labels = forbiddenLabels(object?.metadata.labels ?? {}, oldObject?.metadata.labels ?? {}, view.dialect);
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`;
}

type Labels = Readonly<Record<string, string>>;

/** Labels that were added, changed or taken away and must not be, in order. */
function forbiddenLabels(next: Labels, live: Labels, dialect: Dialect): string[] {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(live)])];
  return keys
    .filter((key) => own(next, key) !== own(live, key))
    .filter((key) => isIn(key, domainOf(dialect.subkey('node-restriction', ''))) || isReserved(key, dialect))
    .sort();
}

/** The service's own labels, but for those that every node sets. */
function isReserved(key: string, dialect: Dialect): boolean {
  const domains = [domainOf(dialect.key('')), domainOf(dialect.systemKey(''))];
  if (!domains.some((domain) => isIn(key, domain))) return false;
  if (['kubelet', 'node'].some((name) => isIn(key, domainOf(dialect.subkey(name, ''))))) return false;
  return !ownLabels(dialect).includes(key);
}

function ownLabels({ key, subkey }: Dialect): string[] {
  return [
    key('hostname'),
    key('os'),
    key('arch'),
    ...['zone', 'region'].flatMap((name) => [subkey('topology', name), subkey('failure-domain.beta', name)]),
    ...['os', 'arch', 'instance-type'].map((name) => subkey('beta', name)),
  ];
}

/** Whether a key stands under a domain, or under one below it. */
function isIn(key: string, domain: string): boolean {
  const [prefix = '', name] = key.split('/');
  return name !== undefined && (prefix === domain || prefix.endsWith(`.${domain}`));
}

/** Without the slash at its end. */
function domainOf(prefix: string): string {
  return prefix.slice(0, -1);
}
