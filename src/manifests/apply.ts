/**
 * Applies manifests to a cluster with server-side apply, so that repeating it changes nothing. `applyYaml` and
 * `loadManifests` use it; they differ in the source of texts and in how they report failures.
 */
import { createClient } from '../client/client.js';
import type { ClientDefaults, FieldValidation } from '../client/options.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { dialects, serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject, CommonInput, CommonObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import { untilAborted } from '../util/abort.js';
import { deepEqual, isRecord } from '../util/json.js';
import { type Manifest, ManifestError, placeText } from './read.js';
import { sendForResponse } from './send.js';
import { whyNotServed } from './unknown-kind.js';

/** The part of a cluster that applying needs. */
export interface ManifestTarget extends Transport {
  /** The currently served kinds: an applied CRD may add some. */
  kinds(): readonly ManifestKind[];
  /** Reads the kinds of a remote server again. Absent: `kinds` is always current. */
  refreshKinds?(): Promise<void>;
}

/** A kind that a server serves. */
export interface ManifestKind
  extends Pick<ServedKind, 'apiVersion' | 'gvk' | 'gvr' | 'namespaced' | 'verbs' | 'dialect'> {
  /** Absent: it is known by its names only, from discovery. CustomResourceDefinitions are awaited if theirs is present. */
  readonly kind?: Kind | undefined;
  readonly subresources?: readonly string[];
}

/** The options of `applyManifests`. */
export interface ApplySettings {
  /** The field manager; `orchplane` by default. */
  readonly fieldManager?: string | undefined;
  /** `create`: an object that exists is a failure. By default objects are applied. */
  readonly mode?: 'apply' | 'create' | undefined;
  /** Takes fields from other managers instead of failing with a conflict. */
  readonly force?: boolean | undefined;
  /** The namespace of objects that name none; `default` by default. */
  readonly namespace?: string | undefined;
  /** How unknown fields are handled; rejected (`Strict`) by default. */
  readonly fieldValidation?: FieldValidation | undefined;
  /** Do not store anything. CRDs then define no kinds. */
  readonly dryRun?: boolean | undefined;
  /** How long a CRD may take to be established, on the target's clock; 30 s by default. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Stop after the first failure. */
  readonly stopAtFailure?: boolean | undefined;
  /** Impersonate this user. */
  readonly as?: ClientDefaults['as'] | undefined;
  /** Called with each warning; the report contains them too. */
  readonly onWarning?: ClientDefaults['onWarning'] | undefined;
}

/** The outcome of one object, or of one document that could not be read. */
export type AppliedManifest = {
  /** `web.yaml:12 (document 3, item 2)`. */
  readonly place: string;
  /** The document's position in its text, from one. */
  readonly document: number;
  /** The position in a list, from one; absent: the document is the object. */
  readonly item?: number;
} & (
  | {
      readonly outcome: 'created' | 'configured' | 'unchanged';
      readonly apiVersion: string;
      readonly kind: string;
      readonly namespace?: string;
      readonly name: string;
      /** The object that the server returned. */
      readonly object: ApiObject;
      /** The object before; absent if it was created, or if it may not be read. */
      readonly previous?: ApiObject;
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'failed';
      /** As far as the document states it. */
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      /**
       * The message begins with the place; the cause is the server's StatusError, if the server rejected the object.
       */
      readonly error: ManifestError;
    }
);

/**
 * Applies objects and reports the outcome of each, in the order in which they were applied. CRDs come first and are
 * awaited, then namespaces and other prerequisites, then the rest as given. A rejected object does not prevent the
 * others unless `stopAtFailure` is set. Rejects only for errors that are not responses of the server: an abort, a
 * broken transport.
 */
export async function applyManifests(
  target: ManifestTarget,
  manifests: readonly Manifest[],
  settings: ApplySettings = {},
): Promise<AppliedManifest[]> {
  const ordered = manifests.toSorted((a, b) => applyRank(a) - applyRank(b));
  const crds = ordered.filter(isCrd);
  const others = ordered.filter((manifest) => !isCrd(manifest));
  const run = new ManifestApplier(target, settings, crds);
  const applied = await run.applyAll(crds);
  const defined = await Promise.all(applied.map((each) => run.awaitEstablished(each)));
  if (settings.stopAtFailure === true && defined.some(isFailed)) return defined.map(({ report }) => report);
  await run.awaitDiscovery(others);
  return [...defined, ...(await run.applyAll(others))].map(({ report }) => report);
}

/** The report of a document that cannot be read. */
export function unreadableReport(error: ManifestError): AppliedManifest {
  return { ...reportPlace(error.place), outcome: 'failed', error };
}

const CRD_KIND = 'CustomResourceDefinition';

/** Whether a manifest is a CRD, in any dialect, whether or not the cluster serves CRDs. */
export function isCrd({ kind, apiVersion }: Manifest): boolean {
  return kind === CRD_KIND && dialects.some(({ group }) => apiVersion.startsWith(`${group(CRD_GROUP)}/`));
}

const CRD_GROUP = serviceGroup('apiextensions');

/** Kinds that other objects depend on. */
const APPLY_FIRST = [
  'Namespace',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'IngressClass',
  'LimitRange',
  'ResourceQuota',
  'ServiceAccount',
];

/** The place of a kind in the order of applying. */
export function applyRank({ kind }: Pick<Manifest, 'kind'>): number {
  const index = APPLY_FIRST.indexOf(kind);
  return index === -1 ? APPLY_FIRST.length : index;
}

const ESTABLISH_TIMEOUT_MS = 30_000;

/** A server publishes a new kind soon after its CRD is established. */
const DISCOVERY_TIMEOUT_MS = 10_000;

interface ApplyResult {
  readonly manifest: Manifest;
  readonly report: AppliedManifest;
}

const isFailed = ({ report }: ApplyResult): boolean => report.outcome === 'failed';

class ManifestApplier {
  readonly #target: ManifestTarget;
  readonly #settings: ApplySettings;
  /** All CRDs of this call, for messages about kinds they should have defined. */
  readonly #crds: readonly Manifest[];
  /** Why types are not served, by type. */
  readonly #missingReasons = new Map<string, string>();

  constructor(target: ManifestTarget, settings: ApplySettings, crds: readonly Manifest[]) {
    this.#target = target;
    this.#settings = settings;
    this.#crds = crds;
  }

  /** Applies manifests one after another. */
  async applyAll(manifests: readonly Manifest[]): Promise<ApplyResult[]> {
    const done: ApplyResult[] = [];
    for (const manifest of manifests) {
      const applied = { manifest, report: await this.#applyOrReport(manifest) };
      done.push(applied);
      if (this.#settings.stopAtFailure === true && isFailed(applied)) break;
    }
    return done;
  }

  /** Waits until the kind of a CRD is served; reports a failure when it will not be. */
  async awaitEstablished({ manifest, report }: ApplyResult): Promise<ApplyResult> {
    const kind = this.#find(manifest)?.kind;
    if (report.outcome === 'failed' || kind === undefined || this.#settings.dryRun === true)
      return { manifest, report };
    const { signal, timeoutMs = ESTABLISH_TIMEOUT_MS, as } = this.#settings;
    const client = createClient({ transport: this.#target, ...(as === undefined ? {} : { as }) });
    const fail = (problem: string, cause?: StatusError) => ({
      manifest,
      report: failedReport(manifest, `${manifest.kind} ${report.name}: ${problem}`, cause),
    });
    try {
      const settled = await client.api(kind as Kind<CommonObject, CommonInput, 'Cluster'>).waitFor(
        report.name,
        // A deleted CRD will not be established.
        (object) => object === undefined || isEstablished(object) || namesConflict(object) !== undefined,
        { timeoutMs, ...(signal === undefined ? {} : { signal }) },
      );
      if (settled === undefined) return fail('was deleted before it was established');
      if (isEstablished(settled)) return { manifest, report: { ...report, object: settled as ApiObject } };
      return fail(`its names are not accepted: ${namesConflict(settled)}`);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      return fail(`is not established: ${error.message}`, error);
    }
  }

  /** Waits until a remote server lists the kinds that the CRDs of this call define. */
  async awaitDiscovery(manifests: readonly Manifest[]): Promise<void> {
    const { clock } = this.#target;
    const end = clock.now() + DISCOVERY_TIMEOUT_MS;
    const isAwaited = (manifest: Manifest): boolean =>
      this.#find(manifest) === undefined && this.#crds.some((crd) => definesKind(crd, manifest));
    if (this.#target.refreshKinds === undefined || this.#settings.dryRun === true) return;
    while (manifests.some(isAwaited) && clock.now() < end) {
      await this.#target.refreshKinds();
      if (manifests.some(isAwaited)) await new Promise<void>((resolve) => void clock.after(100, resolve));
    }
  }

  async #applyOrReport(manifest: Manifest): Promise<AppliedManifest> {
    const { apiVersion, kind } = manifest;
    const served = this.#find(manifest);
    if (served === undefined) {
      return failedReport(manifest, `no kind ${kind} in ${apiVersion} is served${this.#whyMissing(manifest)}`);
    }
    if (!served.namespaced && manifest.namespace !== undefined) {
      return failedReport(manifest, `${kind} is cluster-scoped and takes no namespace`);
    }
    const namespace = served.namespaced ? (manifest.namespace ?? this.#settings.namespace ?? 'default') : undefined;
    try {
      return await this.#apply(manifest, served, namespace);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      const who = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${manifest.name ?? manifest.generateName}`;
      return failedReport({ ...manifest, namespace }, `${who}: ${error.message}`, error);
    }
  }

  async #apply(manifest: Manifest, served: ManifestKind, namespace: string | undefined): Promise<AppliedManifest> {
    const { name, body, apiVersion, kind } = manifest;
    const { fieldManager, fieldValidation, force, dryRun, mode } = this.#settings;
    const at = { resource: served.gvr, ...(namespace === undefined ? {} : { namespace }) };
    // Objects without a name, and kinds that cannot be patched, can only be created.
    const canApply = mode !== 'create' && name !== undefined && served.verbs.includes('patch');
    const live = canApply && served.verbs.includes('get') ? await this.#read({ ...at, name }) : undefined;
    const response = await this.#send({
      ...(canApply ? { verb: 'patch', name, patchType: 'apply' } : { verb: 'create' }),
      ...at,
      options: {
        fieldManager: fieldManager ?? 'orchplane',
        fieldValidation: fieldValidation ?? 'Strict',
        ...(canApply && force === true ? { force } : {}),
        ...(dryRun === true ? { dryRun: ['All'] } : {}),
      },
      body,
    });
    const { onWarning } = this.#settings;
    if (onWarning !== undefined) for (const warning of response.warnings) onWarning(warning);
    const object = response.object as ApiObject;
    return {
      ...reportPlace(manifest.place),
      outcome: response.code === 201 ? 'created' : deepEqual(live, object) ? 'unchanged' : 'configured',
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      // A review has no name.
      name: object.metadata?.name ?? name ?? '',
      object,
      ...(live === undefined ? {} : { previous: live }),
      warnings: response.warnings,
    };
  }

  /**
   * The live object, to detect whether the apply changed it. Without permission to read it, the outcome is reported as
   * a change.
   */
  async #read(at: Pick<ApiRequest, 'resource' | 'namespace' | 'name'>): Promise<ApiObject | undefined> {
    try {
      return (await this.#send({ verb: 'get', ...at, options: {} })).object as ApiObject;
    } catch (error) {
      if (StatusError.is(error, 'NotFound') || StatusError.is(error, 'Forbidden')) return undefined;
      throw error;
    }
  }

  async #send(request: ApiRequest): Promise<ObjectResponse> {
    const { signal, as } = this.#settings;
    signal?.throwIfAborted();
    const whole = {
      ...request,
      ...(as === undefined ? {} : { user: as }),
      ...(signal === undefined ? {} : { signal }),
    };
    return untilAborted(sendForResponse(this.#target, whole), signal);
  }

  #find({ apiVersion, kind }: Manifest): ManifestKind | undefined {
    return this.#target.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  }

  /**
   * The end of the message about a missing kind: the CRD that should have defined it, or a hint derived from the served
   * kinds.
   */
  #whyMissing(manifest: Manifest): string {
    const type = `${manifest.apiVersion} ${manifest.kind}`;
    const reason = this.#missingReasons.get(type) ?? this.#findReason(manifest);
    this.#missingReasons.set(type, reason);
    return reason;
  }

  #findReason(manifest: Manifest): string {
    const crd = this.#crds.find((each) => definesKind(each, manifest));
    if (crd === undefined) return whyNotServed(manifest, this.#target.kinds());
    const which = `its CustomResourceDefinition (document ${crd.place.document})`;
    return this.#settings.dryRun === true
      ? `: ${which} defines nothing in a dry run`
      : `: ${which} failed, or has no such version`;
  }
}

/** Whether a CRD defines the kind of an object. */
export function definesKind({ body }: Manifest, { apiVersion, kind }: Manifest): boolean {
  const { value } = body.read();
  const spec = isRecord(value) ? value['spec'] : undefined;
  const { group, names } = isRecord(spec) ? spec : {};
  return apiVersion.startsWith(`${group}/`) && isRecord(names) && names['kind'] === kind;
}

interface Condition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
}

function conditionsOf(crd: unknown): readonly Condition[] {
  const status = isRecord(crd) ? crd['status'] : undefined;
  return isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'].filter(isRecord) : [];
}

function isEstablished(crd: unknown): boolean {
  return conditionsOf(crd).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Why a CRD will not be established: another kind uses its names. */
function namesConflict(crd: unknown): string | undefined {
  const refusal = conditionsOf(crd).find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
  return refusal === undefined ? undefined : String(refusal.message);
}

/** The report of an object that was not applied. */
export function failedReport(manifest: Manifest, problem: string, cause?: StatusError): AppliedManifest {
  const { place, apiVersion, kind, namespace, name } = manifest;
  return {
    ...reportPlace(place),
    outcome: 'failed',
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    error: new ManifestError(place, problem, cause === undefined ? undefined : { cause }),
  };
}

interface ReportPlace {
  readonly place: string;
  readonly document: number;
  readonly item?: number;
}

function reportPlace(place: Manifest['place']): ReportPlace {
  const { document, item } = place;
  return { place: placeText(place), document, ...(item === undefined ? {} : { item }) };
}
