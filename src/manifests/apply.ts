/**
 * Manifests → objects of a cluster, by server-side apply, so that doing it again changes nothing. Both `applyYaml` and
 * `loadManifests` stand on this; they differ in where texts come from and in what they make of failures.
 */
import { createClient } from '../client/client.js';
import type { ClientDefaults, FieldValidation } from '../client/options.js';
import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { dialects, serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import { untilAborted } from '../util/abort.js';
import { invariant } from '../util/invariant.js';
import { deepEqual, isRecord } from '../util/json.js';
import { type Manifest, ManifestError, placeText } from './read.js';
import { whyNotServed } from './unknown-kind.js';

/** What applying needs of a cluster. */
export interface ManifestTarget extends Transport {
  /** Everything it serves at this moment: a definition that was just applied may have added to it. */
  kinds(): readonly ServedKind[];
}

export interface ApplySettings {
  /** Who owns the fields afterwards; `orchplane` unless said otherwise. */
  readonly fieldManager?: string | undefined;
  /** Takes fields away from other managers instead of failing. */
  readonly force?: boolean | undefined;
  /** For objects of namespaced kinds that name none; `default` unless said otherwise. */
  readonly namespace?: string | undefined;
  /** What becomes of fields that nobody knows; refused (`Strict`) unless said otherwise. */
  readonly fieldValidation?: FieldValidation | undefined;
  /** Do everything but store the result. Definitions define nothing then. */
  readonly dryRun?: boolean | undefined;
  /** How long a definition may take to be established, on the target's clock; 30 s unless said otherwise. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Goes no further after the first failure. */
  readonly stopAtFailure?: boolean | undefined;
  /** Speak as this user. */
  readonly as?: ClientDefaults['as'] | undefined;
  /** Called with each warning; the report has them too. */
  readonly onWarning?: ClientDefaults['onWarning'] | undefined;
}

/** What became of one object; or of one document, when it could not be read. */
export type AppliedManifest = {
  /** `web.yaml:12 (document 3, item 2)`. */
  readonly place: string;
  /** Which document of its text it is, counted from one. */
  readonly document: number;
  /** Which item of a list, counted from one; absent: the document is the object. */
  readonly item?: number;
} & (
  | {
      readonly outcome: 'created' | 'configured' | 'unchanged';
      readonly apiVersion: string;
      readonly kind: string;
      readonly namespace?: string;
      readonly name: string;
      /** As the server answered with it. */
      readonly object: ApiObject;
      readonly warnings: readonly string[];
    }
  | {
      readonly outcome: 'failed';
      /** As far as the document says it. */
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly namespace?: string;
      readonly name?: string;
      /** The message begins with the place; the cause is the server's StatusError, if it was the server that refused. */
      readonly error: ManifestError;
    }
);

/**
 * Applies objects and tells what became of each, in the order in which they were applied. Definitions come first and are
 * waited for, then namespaces and what admission asks for, then the rest as given. A refusal does not keep the others
 * from being applied, unless asked. Rejects only for what is no answer of the server: an abort, a broken transport.
 */
export async function applyManifests(
  target: ManifestTarget,
  manifests: readonly Manifest[],
  settings: ApplySettings = {},
): Promise<AppliedManifest[]> {
  const ordered = manifests.toSorted((a, b) => rankOf(a) - rankOf(b));
  const definitions = ordered.filter(isDefinition);
  const others = ordered.filter((manifest) => !isDefinition(manifest));
  const run = new Run(target, settings, definitions);
  const applied = await run.applyAll(definitions);
  const defined = await Promise.all(applied.map((each) => run.established(each)));
  if (settings.stopAtFailure === true && defined.some(isFailed)) return defined.map(({ report }) => report);
  return [...defined, ...(await run.applyAll(others))].map(({ report }) => report);
}

/** A document that cannot be read, as a report. */
export function unreadable(error: ManifestError): AppliedManifest {
  return { ...placeOf(error.place), outcome: 'failed', error };
}

const DEFINITION = 'CustomResourceDefinition';

/** By its names alone, in whatever dialect: whether it is served is another question. */
export function isDefinition({ kind, apiVersion }: Manifest): boolean {
  return kind === DEFINITION && dialects.some(({ group }) => apiVersion.startsWith(`${group(GROUP)}/`));
}

const GROUP = serviceGroup('apiextensions');

/** What others need to exist before them. */
const FIRST = [
  'Namespace',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'IngressClass',
  'LimitRange',
  'ResourceQuota',
  'ServiceAccount',
];

function rankOf({ kind }: Manifest): number {
  const index = FIRST.indexOf(kind);
  return index === -1 ? FIRST.length : index;
}

const ESTABLISH_MS = 30_000;

interface Applied {
  readonly manifest: Manifest;
  readonly report: AppliedManifest;
}

const isFailed = ({ report }: Applied): boolean => report.outcome === 'failed';

class Run {
  readonly #target: ManifestTarget;
  readonly #settings: ApplySettings;
  /** All that the run is about, for messages about what they should have defined. */
  readonly #definitions: readonly Manifest[];
  /** Why a type is missing, which many objects may be of. */
  readonly #reasons = new Map<string, string>();

  constructor(target: ManifestTarget, settings: ApplySettings, definitions: readonly Manifest[]) {
    this.#target = target;
    this.#settings = settings;
    this.#definitions = definitions;
  }

  /** One after the other. */
  async applyAll(manifests: readonly Manifest[]): Promise<Applied[]> {
    const done: Applied[] = [];
    for (const manifest of manifests) {
      const applied = { manifest, report: await this.#applyOrTell(manifest) };
      done.push(applied);
      if (this.#settings.stopAtFailure === true && isFailed(applied)) break;
    }
    return done;
  }

  /** The same once the kind of a definition is served; a failure when it will not be. */
  async established({ manifest, report }: Applied): Promise<Applied> {
    const served = this.#find(manifest);
    if (report.outcome === 'failed' || served === undefined || this.#settings.dryRun === true)
      return { manifest, report };
    const { signal, timeoutMs = ESTABLISH_MS, as } = this.#settings;
    const client = createClient({ transport: this.#target, ...(as === undefined ? {} : { as }) });
    const fail = (problem: string, cause?: StatusError) => ({
      manifest,
      report: failed(manifest, `${manifest.kind} ${report.name}: ${problem}`, cause),
    });
    try {
      const settled = await client.api(served.kind as Kind<unknown, unknown, 'Cluster'>).waitFor(
        report.name,
        // What is gone does not come back by waiting.
        (object) => object === undefined || isEstablished(object) || namesProblem(object) !== undefined,
        { timeoutMs, ...(signal === undefined ? {} : { signal }) },
      );
      if (settled === undefined) return fail('was deleted before it was established');
      if (isEstablished(settled)) return { manifest, report: { ...report, object: settled as ApiObject } };
      return fail(`its names are not accepted: ${namesProblem(settled)}`);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      return fail(`is not established: ${error.message}`, error);
    }
  }

  async #applyOrTell(manifest: Manifest): Promise<AppliedManifest> {
    const { apiVersion, kind } = manifest;
    const served = this.#find(manifest);
    if (served === undefined) {
      return failed(manifest, `no kind ${kind} in ${apiVersion} is served${this.#whyMissing(manifest)}`);
    }
    if (!served.namespaced && manifest.namespace !== undefined) {
      return failed(manifest, `${kind} is cluster-scoped and takes no namespace`);
    }
    const namespace = served.namespaced ? (manifest.namespace ?? this.#settings.namespace ?? 'default') : undefined;
    try {
      return await this.#apply(manifest, served, namespace);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      const who = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${manifest.name ?? manifest.generateName}`;
      return failed({ ...manifest, namespace }, `${who}: ${error.message}`, error);
    }
  }

  async #apply(manifest: Manifest, served: ServedKind, namespace: string | undefined): Promise<AppliedManifest> {
    const { name, body, apiVersion, kind } = manifest;
    const { fieldManager, fieldValidation, force, dryRun } = this.#settings;
    const at = { resource: served.gvr, ...(namespace === undefined ? {} : { namespace }) };
    // What has no name yet, or cannot be patched, can only be created.
    const canApply = name !== undefined && served.verbs.includes('patch');
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
      ...placeOf(manifest.place),
      outcome: response.code === 201 ? 'created' : deepEqual(live, object) ? 'unchanged' : 'configured',
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      // A review has no name.
      name: object.metadata?.name ?? name ?? '',
      object,
      warnings: response.warnings,
    };
  }

  /** The object as it is, to see afterwards whether anything has changed; who may not read it is told of a change. */
  async #read(at: Pick<ApiRequest, 'resource' | 'namespace' | 'name'>): Promise<unknown> {
    try {
      return (await this.#send({ verb: 'get', ...at, options: {} })).object;
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
    const response = await untilAborted(Promise.resolve(this.#target.send(whole)), signal);
    invariant(response.type === 'object', 'a watch answered a request that was none');
    return response;
  }

  #find({ apiVersion, kind }: Manifest): ServedKind | undefined {
    return this.#target.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  }

  /** The rest of a sentence: the definition that should have made it, or what the kinds that there are have to say. */
  #whyMissing(manifest: Manifest): string {
    const type = `${manifest.apiVersion} ${manifest.kind}`;
    const reason = this.#reasons.get(type) ?? this.#findReason(manifest);
    this.#reasons.set(type, reason);
    return reason;
  }

  #findReason(manifest: Manifest): string {
    const definition = this.#definitions.find((each) => defines(each, manifest));
    if (definition === undefined) return whyNotServed(manifest, this.#target.kinds());
    const which = `its definition (document ${definition.place.document})`;
    return this.#settings.dryRun === true
      ? `: ${which} defines nothing in a dry run`
      : `: ${which} failed, or has no such version`;
  }
}

/** Whether a definition is about the kind of an object. */
function defines({ body }: Manifest, { apiVersion, kind }: Manifest): boolean {
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

function conditionsOf(definition: unknown): readonly Condition[] {
  const status = isRecord(definition) ? definition['status'] : undefined;
  return isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'].filter(isRecord) : [];
}

function isEstablished(definition: unknown): boolean {
  return conditionsOf(definition).some(({ type, status }) => type === 'Established' && status === 'True');
}

/** Why it will not be established: another kind has its names. */
function namesProblem(definition: unknown): string | undefined {
  const refusal = conditionsOf(definition).find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
  return refusal === undefined ? undefined : String(refusal.message);
}

/** The report on an object that did not come to be. */
export function failed(manifest: Manifest, problem: string, cause?: StatusError): AppliedManifest {
  const { place, apiVersion, kind, namespace, name } = manifest;
  return {
    ...placeOf(place),
    outcome: 'failed',
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    error: new ManifestError(place, problem, cause === undefined ? undefined : { cause }),
  };
}

interface PlaceParts {
  readonly place: string;
  readonly document: number;
  readonly item?: number;
}

function placeOf(place: Manifest['place']): PlaceParts {
  const { document, item } = place;
  return { place: placeText(place), document, ...(item === undefined ? {} : { item }) };
}
