/**
 * Captures the objects of a cluster as data, YAML or JSON. `parseCapture` reads such texts, to start other clusters from
 * them.
 */
import type { Cluster } from '../cluster/contract.js';
import { encodeJson, indentJson } from '../codec/json-encoder.js';
import { isKind } from '../kinds/build-kind.js';
import type { Kind } from '../kinds/kind.js';
import { VERSION_COMMENT } from '../manifests/parse-capture.js';
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import { DEFAULT_NAMESPACES } from '../server/seed.js';
import type { ClusterState } from '../storage/state.js';
import { writeYaml } from '../text/yaml/index.js';
import { uidFromText } from '../util/ids.js';
import { refuseUnknownOptions } from '../util/options.js';
import { compareTexts } from '../util/order.js';
import { printValue } from './matchers/result.js';

export interface CaptureOptions {
  /** Only objects of these kinds, in any version. */
  readonly kinds?: readonly Kind[] | undefined;
  /** Only objects in this namespace, and the namespace itself. */
  readonly namespace?: string | undefined;
  /** Includes unchanged objects that every new cluster has (roles, flow schemas, priority classes, …). */
  readonly initial?: boolean | undefined;
}

/** The members of a cluster that a capture uses. */
export type CapturedCluster = Pick<Cluster, 'resourceVersion' | 'storageReader' | 'kinds' | 'dialect'>;

/**
 * All objects of a cluster as they are stored, in an order that depends only on their kinds and names. Unchanged initial
 * objects are omitted. `createCluster({ from })` starts a cluster from the result.
 *
 * @example
 * const copy = testCluster({ from: captureCluster(cluster) });
 */
export function captureCluster(cluster: CapturedCluster, options: CaptureOptions = {}): ClusterState {
  refuseUnknownOptions('captureCluster', options, ['kinds', 'namespace', 'initial']);
  const storages = storagesOf(cluster);
  const wanted = kindsOf(options)?.map((kind) => `${cluster.dialect.group(kind.group)} ${kind.kind}`);
  const objects = cluster.storageReader.everything().filter((object) => {
    if (wanted !== undefined && !wanted.includes(groupKindOf(object))) return false;
    if (options.namespace !== undefined && !isIn(options.namespace, object)) return false;
    return options.initial === true || !isInitial(object, storages);
  });
  return Object.freeze({ resourceVersion: cluster.resourceVersion, objects: Object.freeze(objects.sort(byPlace)) });
}

/**
 * Captures as YAML with one document for each object. The text is stable, so that it can be kept in a repository. Takes a
 * cluster or a state. `parseCapture` restores all strings except lone surrogates, which become U+FFFD.
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
 * Captures as JSON: a List like that of `kubectl get -o json`.
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

function stateOf(from: CapturedCluster | ClusterState, options: CaptureOptions | undefined): ClusterState {
  if (!('objects' in from)) return captureCluster(from, options);
  if (options === undefined) return from;
  throw new TypeError('orchplane: a state has been captured already: options are for clusters');
}

function kindsOf({ kinds }: CaptureOptions): CaptureOptions['kinds'] {
  if (kinds === undefined) return undefined;
  const given: readonly unknown[] = Array.isArray(kinds) ? kinds : [];
  if (Array.isArray(kinds) && given.every(isKind)) return kinds;
  const shown = isKind(kinds) ? `the kind ${kinds.kind}` : printValue(kinds);
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

/** The storage by group and kind; the uids of initial objects are derived from it. */
function storagesOf(cluster: CapturedCluster): ReadonlyMap<string, string> {
  return new Map(cluster.kinds().map(({ gvk, storageKey }) => [`${gvk.group} ${gvk.kind}`, storageKey]));
}

/** Writes after the creation of the default namespaces have higher versions than initial objects. */
function isInitial(object: ApiObject, storages: ReadonlyMap<string, string>): boolean {
  const { uid, resourceVersion, name, namespace } = object.metadata;
  if (Number(resourceVersion) > DEFAULT_NAMESPACES.length) return false;
  const storage = storages.get(groupKindOf(object));
  return uid === uidFromText(`${storage}/${namespace === undefined ? '' : `${namespace}/`}${name}`);
}

/** CRDs first, then namespaces, cluster-scoped objects, and the objects of each namespace. */
function byPlace(left: ApiObject, right: ApiObject): number {
  return compareTexts(placeOf(left), placeOf(right));
}

function placeOf({ apiVersion, kind, metadata }: ApiObject): readonly string[] {
  const rank = kind === 'CustomResourceDefinition' ? '0' : kind === 'Namespace' && apiVersion === 'v1' ? '1' : '2';
  return [rank, metadata.namespace ?? '', kind, apiVersion, metadata.name];
}
