/**
 * A cluster's objects as data and as text: to look at, to keep beside a test, to start other clusters from.
 */
import type { Cluster } from '../cluster/contract.js';
import { encodeJson, indentJson } from '../codec/json-encoder.js';
import { isKind } from '../kinds/is-kind.js';
import type { Kind } from '../kinds/kind.js';
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import { DEFAULT_NAMESPACES } from '../server/seed.js';
import type { ClusterState } from '../storage/state.js';
import { writeYaml } from '../text/yaml/index.js';
import { uidFromText } from '../util/ids.js';
import { refuseUnknownOptions } from '../util/options.js';
import { show } from './matchers/result.js';

export interface CaptureOptions {
  /** Only objects of these kinds, in whatever version they are stored. */
  readonly kinds?: readonly Kind[] | undefined;
  /** Only what is in this namespace, and the namespace itself. */
  readonly namespace?: string | undefined;
  /** Also what every cluster begins with (roles, flows, priority classes, …) and nobody has written since. */
  readonly initial?: boolean | undefined;
}

/** The parts of a cluster that are needed. */
export type CapturedCluster = Pick<Cluster, 'resourceVersion' | 'inside' | 'kinds' | 'dialect'>;

/**
 * Every object of a cluster exactly as it is stored, in an order that depends on nothing but their names. What a cluster
 * begins with by itself is left out while nobody has written it. `createCluster({ from })` starts another from it.
 *
 * @example
 * const copy = testCluster({ from: captureCluster(cluster) });
 */
export function captureCluster(cluster: CapturedCluster, options: CaptureOptions = {}): ClusterState {
  refuseUnknownOptions('captureCluster', options, ['kinds', 'namespace', 'initial']);
  const storages = storagesOf(cluster);
  const wanted = kindsOf(options)?.map((kind) => `${cluster.dialect.group(kind.group)} ${kind.kind}`);
  const objects = cluster.inside.everything().filter((object) => {
    if (wanted !== undefined && !wanted.includes(groupKindOf(object))) return false;
    if (options.namespace !== undefined && !isIn(options.namespace, object)) return false;
    return options.initial === true || !isInitial(object, storages);
  });
  return Object.freeze({ resourceVersion: cluster.resourceVersion, objects: Object.freeze(objects.sort(byPlace)) });
}

/**
 * The same as YAML, one document for each object, made to be kept in a repository: what did not change has the same lines.
 * Takes a cluster or a state. `parseCapture` reads every text in it as it was, but for halves of surrogate pairs, which no
 * file can hold: they are U+FFFD.
 *
 * @example
 * await writeFile('cluster.yaml', captureYaml(cluster));
 */
export function captureYaml(from: CapturedCluster | ClusterState, options?: CaptureOptions): string {
  const { resourceVersion, objects } = stateOf(from, options);
  const header = `${HEADER}\n${VERSION_COMMENT}${resourceVersion}\n`;
  return [header, ...objects.map((object) => writeYaml(object, { quoteMergeKeys: true }))].join('---\n');
}

/**
 * The same as JSON: a List, as `kubectl get -o json` prints it.
 *
 * @example
 * await writeFile('cluster.json', captureJson(cluster));
 */
export function captureJson(from: CapturedCluster | ClusterState, options?: CaptureOptions): string {
  const { resourceVersion, objects } = stateOf(from, options);
  const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion }, items: objects };
  return `${indentJson(encodeJson(list))}\n`;
}

const HEADER = '# A cluster captured by orchplane: testCluster({ from: parseCapture(text) }) starts from it.';

/** What the version stands behind, in a comment before the first document. */
export const VERSION_COMMENT = '# resourceVersion: ';

function stateOf(from: CapturedCluster | ClusterState, options: CaptureOptions | undefined): ClusterState {
  if (!('objects' in from)) return captureCluster(from, options);
  if (options === undefined) return from;
  throw new TypeError('orchplane: a state has been captured already: options are for clusters');
}

function kindsOf({ kinds }: CaptureOptions): CaptureOptions['kinds'] {
  if (kinds === undefined) return undefined;
  const given: readonly unknown[] = Array.isArray(kinds) ? kinds : [];
  if (Array.isArray(kinds) && given.every(isKind)) return kinds;
  const shown = isKind(kinds) ? `the kind ${kinds.kind}` : show(kinds);
  throw new TypeError(
    `orchplane: captureCluster: kinds is a list of kinds such as [ConfigMap] of orchplane/kinds, not ${shown}`,
  );
}

function groupKindOf({ apiVersion, kind }: ApiObject): string {
  return `${parseApiVersion(apiVersion)?.group ?? ''} ${kind}`;
}

function isIn(namespace: string, { apiVersion, kind, metadata }: ApiObject): boolean {
  return (
    metadata.namespace === namespace || (apiVersion === 'v1' && kind === 'Namespace' && metadata.name === namespace)
  );
}

/** By group and kind, where objects are stored: the identities of initial objects follow from that. */
function storagesOf(cluster: CapturedCluster): ReadonlyMap<string, string> {
  return new Map(cluster.kinds().map(({ gvk, storage }) => [`${gvk.group} ${gvk.kind}`, storage]));
}

/** Every write after the default namespaces has a higher version than what came with them. */
function isInitial(object: ApiObject, storages: ReadonlyMap<string, string>): boolean {
  const { uid, resourceVersion, name, namespace } = object.metadata;
  if (Number(resourceVersion) > DEFAULT_NAMESPACES.length) return false;
  const storage = storages.get(groupKindOf(object));
  return uid === uidFromText(`${storage}/${namespace === undefined ? '' : `${namespace}/`}${name}`);
}

/** Definitions, namespaces, what is in no namespace, and then namespace by namespace. */
function byPlace(left: ApiObject, right: ApiObject): number {
  const [a, b] = [placeOf(left), placeOf(right)];
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? '';
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

function placeOf({ apiVersion, kind, metadata }: ApiObject): readonly string[] {
  const rank = kind === 'CustomResourceDefinition' ? '0' : kind === 'Namespace' && apiVersion === 'v1' ? '1' : '2';
  return [rank, metadata.namespace ?? '', kind, apiVersion, metadata.name];
}
