/**
 * The volumes of a pod. ConfigMaps, Secrets and the downward API have live content; a volume keeps its last content when the
 * object is deleted.
 * upstream: pkg/volume/{configmap,secret,downwardapi,projected,emptydir}
 */
import { requestBoundToken } from '../../controllers/runtime/bound-token.js';
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { isControlledBy } from '../../controllers/runtime/owners.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { StatusError } from '../../meta/errors.js';
import { Quantity } from '../../meta/quantity.js';
import { getOrInsertComputed } from '../../util/once.js';
import { checkedPath, subPathOf, type TextBudget } from '../kubelet/expansion.js';
import {
  configMapData,
  fieldValue,
  type KeyedData,
  resourceValue,
  SetupError,
  secretData,
} from '../kubelet/references.js';
import type { ContainerSpec } from '../program.js';
import {
  type FileEntry,
  FileTree,
  type Mount,
  normalize,
  OwnVolumes,
  type SharedVolumes,
  type Volume,
} from './file-tree.js';

type VolumeSpec = NonNullable<StoredPod['spec']['volumes']>[number];
type ProjectedSource = NonNullable<NonNullable<VolumeSpec['projected']>['sources']>[number];
type Entries = ReadonlyMap<string, FileEntry>;
/** Returns the same map until the files change: what is mounted behind a subPath keeps it. */
type Reader = () => Entries;

export interface PodVolumesOptions {
  readonly shared: SharedVolumes;
  /** Whether hostPath volumes are allowed. */
  readonly allowsHostPath: boolean;
  /** The newest state of the pod. */
  readonly pod: () => StoredPod;
  readonly podIPs: () => readonly string[];
}

/** The variables of a container, and what its texts may have together. */
interface ContainerTexts {
  readonly env: Readonly<Record<string, string>>;
  readonly budget: TextBudget;
}

interface BoundToken {
  readonly entries: Entries;
  readonly renewAtMs: number;
}

/** What fields of the pod depend on, and their values by field. */
interface Fields {
  readonly pod: StoredPod;
  readonly podIP: string | undefined;
  readonly allocatable: Readonly<Record<string, string>> | undefined;
  readonly values: Map<string, Uint8Array>;
}

/** Tokens are renewed when this part of their lifetime has passed, and at the latest after a day. */
const RENEW_AFTER = 0.8;
const MAX_TOKEN_AGE_MS = 24 * 60 * 60 * 1000;
const TOKEN_MODE = 0o644;

export class PodVolumes {
  /** Those in memory that end with the pod. */
  readonly own: OwnVolumes;
  readonly #context: ControllerContext;
  readonly #options: PodVolumesOptions;
  readonly #volumes = new Map<string, Volume>();
  readonly #tokens = new Map<string, BoundToken>();
  #fields: Fields | undefined;
  /** The last value of each field. */
  readonly #texts = new Map<string, { readonly text: string; readonly bytes: Uint8Array }>();

  constructor(context: ControllerContext, options: PodVolumesOptions) {
    this.#context = context;
    this.#options = options;
    this.own = new OwnVolumes(options.shared.memory.of(this.#namespace));
  }

  /** Sets up all volumes. Throws SetupError with the message of the FailedMount event. */
  async mount(): Promise<void> {
    let files = 0;
    for (const spec of this.#options.pod().spec.volumes ?? []) {
      try {
        await this.#mountVolume(spec);
        const volume = this.#volumes.get(spec.name);
        // The same ConfigMap may be in thousands of volumes.
        if (volume instanceof LiveVolume) files += volume.fileCount;
        if (files > MAX_FILES) throw tooManyFiles();
      } catch (error) {
        if (!(error instanceof SetupError)) throw error;
        throw new SetupError(`MountVolume.SetUp failed for volume ${JSON.stringify(spec.name)} : ${error.message}`);
      }
    }
  }

  /** When the next token has to be renewed; undefined: the pod has none. */
  get renewAtMs(): number | undefined {
    const times = [...this.#tokens.values()].map(({ renewAtMs }) => renewAtMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The files of a container. `root` has the files that belong to the container alone. */
  treeOf({ volumeMounts = [] }: ContainerSpec, root: Volume, { env, budget }: ContainerTexts): FileTree {
    const frozen = new Map<LiveVolume, Volume>();
    const mounts = volumeMounts.map(({ name, mountPath, subPath = '', subPathExpr, readOnly = false }): Mount => {
      const volume = this.#volumes.get(name);
      if (volume === undefined) throw new SetupError(`cannot find volume ${JSON.stringify(name)} to mount`);
      const path = subPathOf({ subPath, subPathExpr }, env, budget);
      // The files behind a subPath do not follow later changes.
      const isFrozen = path !== '' && volume instanceof LiveVolume;
      const mounted = isFrozen ? getOrInsertComputed(frozen, volume, () => volume.frozen()) : volume;
      return { mountPath: normalize(checkedPath(mountPath)), subPath: path, readOnly, volume: mounted };
    });
    return new FileTree(root, mounts);
  }

  async #mountVolume(spec: VolumeSpec): Promise<void> {
    const { name, configMap, secret, downwardAPI, projected } = spec;
    await this.#requestTokens(spec);
    if (this.#volumes.has(name)) return;
    const namespace = this.#namespace;
    if (configMap !== undefined) {
      const { name: object = '', items, optional = false, defaultMode = DEFAULT_MODE } = configMap;
      const source = { kind: 'configmap', object, items, optional, defaultMode } as const;
      this.#volumes.set(name, new LiveVolume(this.#keyedReader(source)));
    } else if (secret !== undefined) {
      const { secretName: object = '', items, optional = false, defaultMode = DEFAULT_MODE } = secret;
      const source = { kind: 'secret', object, items, optional, defaultMode } as const;
      this.#volumes.set(name, new LiveVolume(this.#keyedReader(source)));
    } else if (downwardAPI !== undefined) {
      const { items, defaultMode = DEFAULT_MODE } = downwardAPI;
      this.#volumes.set(name, new LiveVolume(this.#downwardReader(items, defaultMode)));
    } else if (projected !== undefined) {
      const { sources = [], defaultMode = DEFAULT_MODE } = projected;
      const readers = sources.map((source, at) => this.#projectedReader(`${name}/${at}`, source, defaultMode));
      this.#volumes.set(name, new LiveVolume(mergedReader(readers)));
    } else if (spec.emptyDir !== undefined) {
      const { medium, sizeLimit = '0' } = spec.emptyDir;
      const maxBytes = Quantity.parse(String(sizeLimit)).approximateFloat() || undefined; // As in kubelet, 0 is no limit.
      this.#volumes.set(name, this.own.create({ medium, maxBytes }));
    } else if (spec.hostPath !== undefined) {
      if (!this.#options.allowsHostPath)
        throw new SetupError('the runtime does not allow hostPath volumes (option hostPath)');
      const { nodeName = '' } = this.#options.pod().spec;
      this.#volumes.set(name, this.#options.shared.onHost(nodeName, checkedPath(spec.hostPath.path)));
    } else {
      const owned = spec.ephemeral && `${this.#options.pod().metadata.name}-${name}`;
      const claim = spec.persistentVolumeClaim?.claimName ?? owned;
      if (claim === undefined) throw new SetupError('the runtime has no volumes of this type');
      this.#volumes.set(name, this.#claimedVolume(namespace, claim, owned !== undefined));
    }
  }

  get #namespace(): string {
    return this.#options.pod().metadata.namespace ?? '';
  }

  /**
   * Authors of pods can write the claim and its status, but not the volume: only the volume says whose it is.
   * upstream: pkg/kubelet/volumemanager/populator/desired_state_of_world_populator.go getPVSpec
   */
  #claimedVolume(namespace: string, name: string, isEphemeral: boolean): Volume {
    const claim = this.#context.informer(PersistentVolumeClaim).get(name, namespace);
    if (claim === undefined) throw new SetupError(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    const { volumeName = '' } = claim.spec;
    if (claim.status.phase !== 'Bound') throw new SetupError(`PVC ${namespace}/${name} is not bound`);
    const pod = this.#options.pod();
    if (isEphemeral && !isControlledBy(claim, pod)) {
      const { name: podName } = pod.metadata;
      throw new SetupError(
        `PVC ${namespace}/${name} was not created for pod ${namespace}/${podName} (pod is not owner)`,
      );
    }
    const fail = (message: string) => new SetupError(`error processing PVC ${namespace}/${name}: ${message}`);
    if (volumeName === '') throw fail('PVC has empty pvc.Spec.VolumeName');
    const volume = this.#context.informer(PersistentVolume).get(volumeName);
    if (volume === undefined)
      throw fail(`failed to fetch PV ${volumeName} from API server: persistentvolumes "${volumeName}" not found`);
    const found = `found PV object ${volumeName} but`;
    const { claimRef } = volume.spec;
    if (claimRef === undefined)
      throw fail(`${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`);
    const { uid } = claim.metadata;
    if (claimRef.uid !== uid || claimRef.namespace !== namespace || claimRef.name !== name)
      throw fail(`${found} its pv.Spec.ClaimRef.UID ${claimRef.uid ?? ''} does not point to claim.UID ${uid}`);
    return this.#options.shared.claimed(volume.metadata.uid, namespace);
  }

  #keyedReader(source: KeyedSource): Reader {
    const { kind, object, optional } = source;
    const read = kind === 'secret' ? secretData : configMapData;
    let known: { readonly data: KeyedData | undefined; readonly entries: Entries } | undefined;
    return () => {
      const data = read(this.#context, this.#namespace, object);
      if (data === undefined && !optional) throw new SetupError(`${kind} ${JSON.stringify(object)} not found`);
      if (known !== undefined && known.data === data) return known.entries;
      const entries = selected(data ?? new Map(), source);
      if (entries.size > MAX_FILES) throw tooManyFiles();
      known = { data, entries };
      return entries;
    };
  }

  #downwardReader(items: DownwardItems = [], defaultMode: number): Reader {
    let known: { readonly fields: Fields; readonly entries: Entries } | undefined;
    return () => {
      const fields = this.#currentFields();
      const before = known?.entries;
      if (before !== undefined && known?.fields === fields) return before;
      const read = new Map(
        items.map(({ path, fieldRef, resourceFieldRef, mode = defaultMode }) => {
          const bytes = this.#field(fields, fieldRef?.fieldPath, resourceFieldRef);
          return [path, { bytes, mode }] as const;
        }),
      );
      const isSame = before !== undefined && [...read].every(([path, { bytes }]) => before.get(path)?.bytes === bytes);
      known = { fields, entries: isSame ? before : read };
      return known.entries;
    };
  }

  #currentFields(): Fields {
    const pod = this.#options.pod();
    const [podIP] = this.#options.podIPs();
    const allocatable = this.#context.informer(Node).get(pod.spec.nodeName ?? '')?.status.allocatable;
    const known = this.#fields;
    if (known?.pod === pod && known.podIP === podIP && known.allocatable === allocatable) return known;
    this.#fields = { pod, podIP, allocatable, values: new Map() };
    return this.#fields;
  }

  /** All items with the same field share its bytes, also later: annotations may be long, and items and containers many. */
  #field({ pod, allocatable = {}, values }: Fields, path: string | undefined, resource: ResourceRef): Uint8Array {
    return getOrInsertComputed(values, path ?? JSON.stringify(resource ?? ''), (key) => {
      const ofResource = () => (resource === undefined ? '' : resourceValue(pod, resource, '', allocatable));
      const text = path === undefined ? ofResource() : fieldValue(pod, path, this.#options.podIPs());
      const before = this.#texts.get(key);
      if (before?.text === text) return before.bytes;
      const bytes = new TextEncoder().encode(text);
      this.#texts.set(key, { text, bytes });
      return bytes;
    });
  }

  #projectedReader(token: string, source: ProjectedSource, defaultMode: number): Reader {
    const { configMap, secret, downwardAPI, clusterTrustBundle } = source;
    const keyed = configMap ?? secret;
    if (keyed !== undefined) {
      const { name: object = '', items, optional = false } = keyed;
      const kind = configMap === undefined ? 'secret' : 'configmap';
      return this.#keyedReader({ kind, object, items, optional, defaultMode });
    }
    if (downwardAPI !== undefined) return this.#downwardReader(downwardAPI.items, defaultMode);
    if (clusterTrustBundle !== undefined) throw new SetupError('the runtime projects no ClusterTrustBundles');
    return () => this.#tokens.get(token)?.entries ?? NO_ENTRIES;
  }

  /** Requests the tokens of a projected volume that are missing or have to be renewed. */
  async #requestTokens({ name, projected }: VolumeSpec): Promise<void> {
    const { metadata, spec } = this.#options.pod();
    const { clock, client } = this.#context;
    for (const [at, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      const key = `${name}/${at}`;
      const known = this.#tokens.get(key);
      if (serviceAccountToken === undefined || (known !== undefined && known.renewAtMs > clock.now())) continue;
      const { audience, expirationSeconds = 3_600 } = serviceAccountToken;
      const token = await requestBoundToken(client, {
        namespace: metadata.namespace,
        account: spec.serviceAccountName ?? 'default',
        audiences: audience === undefined || audience === '' ? [] : [audience],
        expirationSeconds,
        boundTo: { kind: 'Pod', name: metadata.name, uid: metadata.uid },
      }).catch((error: unknown) => {
        // The service account or the namespace may be gone.
        throw StatusError.is(error) ? new SetupError(`failed to fetch token: ${error.message}`) : error;
      });
      const ageMs = Math.min(expirationSeconds * 1000 * RENEW_AFTER, MAX_TOKEN_AGE_MS);
      const entry = { bytes: new TextEncoder().encode(token), mode: TOKEN_MODE };
      const entries = new Map([[serviceAccountToken.path, entry]]);
      this.#tokens.set(key, { entries, renewAtMs: clock.now() + ageMs });
    }
  }
}

const DEFAULT_MODE = 0o644;
const NO_ENTRIES: Entries = new Map();

type KeyItems = NonNullable<VolumeSpec['configMap']>['items'];
type DownwardItems = NonNullable<NonNullable<VolumeSpec['downwardAPI']>['items']>;
type ResourceRef = DownwardItems[number]['resourceFieldRef'];

interface KeyedSource {
  readonly kind: 'configmap' | 'secret';
  readonly object: string;
  readonly items: KeyItems;
  readonly optional: boolean;
  readonly defaultMode: number;
}

/** Keeps the last content while the source cannot be read. */
class LiveVolume implements Volume {
  readonly #read: Reader;
  #last: Entries;

  /** Throws SetupError if the source cannot be read now. */
  constructor(read: Reader) {
    this.#read = read;
    this.#last = read();
  }

  entries(): Entries {
    try {
      this.#last = this.#read();
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
    }
    return this.#last;
  }

  get fileCount(): number {
    return this.#last.size;
  }

  /** The present content, which does not change. */
  frozen(): Volume {
    const entries = this.entries();
    return { entries: () => entries };
  }
}

/** All files of a ConfigMap or Secret, by mode: a pod may use it in thousands of volumes. */
const allFiles = new WeakMap<KeyedData, Map<number, Entries>>();

function selected(data: KeyedData, { kind, items, optional, defaultMode }: KeyedSource): Entries {
  if (items === undefined || items.length === 0) {
    const byMode = getOrInsertComputed(allFiles, data, () => new Map());
    return getOrInsertComputed(
      byMode,
      defaultMode,
      () => new Map([...data].map(([key, bytes]) => [key, { bytes, mode: defaultMode }])),
    );
  }
  const entries = new Map<string, FileEntry>();
  for (const { key, path, mode = defaultMode } of items) {
    const bytes = data.get(key);
    if (bytes !== undefined) entries.set(path, { bytes, mode });
    else if (!optional) {
      throw new SetupError(
        kind === 'secret'
          ? `references non-existent secret key: ${key}`
          : `configmap references non-existent config key: ${key}`,
      );
    }
  }
  return entries;
}

function mergedReader(readers: readonly Reader[]): Reader {
  let known: { readonly parts: readonly Entries[]; readonly entries: Entries } | undefined;
  return () => {
    const parts = readers.map((read) => read());
    if (known?.parts.every((part, at) => part === parts[at])) return known.entries;
    if (parts.reduce((sum, { size }) => sum + size, 0) > MAX_FILES) throw tooManyFiles();
    known = { parts, entries: new Map(parts.flatMap((part) => [...part])) };
    return known.entries;
  };
}

/** The most files that the live volumes of a pod may have: process images write them before anything else happens. */
const MAX_FILES = 10_000;

function tooManyFiles(): SetupError {
  return new SetupError(`the volumes of a pod from ConfigMaps, Secrets and fields have more than ${MAX_FILES} files`);
}
