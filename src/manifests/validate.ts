/**
 * Validates manifests: creates their objects in a cluster that exists only for this, and reports what the server rejects
 * and warns about, with the line of each field.
 */

import type { Release } from '../kinds/lifecycle.js';
import type { ConvertObject } from '../kinds/reconciler.js';
import { replacementIn, stateIn, versionFacts } from '../kinds/releases/api-versions.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import { isRecord } from '../util/json.js';
import { unsharedBytes } from '../util/json-bytes.js';
import { isCrd } from './apply.js';
import { lineOf } from './field-line.js';
import { type Finding, type FindingObject, findingPlace } from './finding.js';
import { type Manifest, placeText } from './read.js';
import { sendForResponse } from './send.js';
import { whyNotServed } from './unknown-kind.js';

/** A cluster whose content may be overwritten. */
export interface ValidationTarget extends Transport {
  readonly release: Release;
  /** The currently served kinds: a CRD adds some. */
  kinds(): readonly ServedKind[];
}

/**
 * Creates the objects of manifests and returns what the server reports about them. The order is: CRDs, namespaces, classes,
 * limits and quotas, parameters of policies, policies, and then the rest. Missing namespaces are created. Webhook
 * configurations and API services are validated, but not stored, so that no request leaves the process.
 */
export async function validateManifests(
  target: ValidationTarget,
  manifests: readonly Manifest[],
  { namespace = 'default' }: { readonly namespace?: string } = {},
): Promise<Finding[]> {
  const paramKinds = new Set(manifests.flatMap(paramKindOf));
  const rankOf = (manifest: Manifest) => validationRank(manifest, paramKinds);
  const ordered = manifests.toSorted((a, b) => rankOf(a) - rankOf(b));
  const run = new Validation(target, namespace);
  for (const manifest of ordered) await run.validate(manifest);
  return run.findings;
}

/**
 * Functions in place of the conversion webhooks of CRDs: they change only the apiVersion. Without them the objects of such
 * CRDs could not be stored.
 */
export function conversionsFor(manifests: readonly Manifest[]): Readonly<Record<string, ConvertObject>> {
  const renamed: ConvertObject = (object, toVersion) => ({
    ...object,
    apiVersion: `${object.apiVersion.split('/', 1)[0]}/${toVersion}`,
  });
  return Object.fromEntries(manifests.filter(isCrd).map(({ name = '' }) => [name, renamed]));
}

/** The kinds that others depend on, in the order in which they are created; all others come after these. */
const FIRST_KINDS = ['Namespace', 'PriorityClass', 'RuntimeClass', 'StorageClass', 'IngressClass'].concat([
  'LimitRange',
  'ResourceQuota',
  'ServiceAccount',
]);

const POLICY_KINDS = ['ValidatingAdmissionPolicy', 'MutatingAdmissionPolicy'];

function validationRank(manifest: Manifest, paramKinds: ReadonlySet<string>): number {
  const { apiVersion, kind } = manifest;
  if (isCrd(manifest)) return -1;
  const index = FIRST_KINDS.indexOf(kind);
  if (index !== -1) return index;
  if (paramKinds.has(`${apiVersion} ${kind}`)) return FIRST_KINDS.length;
  const isPolicy = POLICY_KINDS.some((policy) => kind === policy || kind === `${policy}Binding`);
  return FIRST_KINDS.length + (isPolicy ? 1 : 2);
}

/** The kind of the parameters of a policy, as `apiVersion kind`. */
function paramKindOf({ kind, body }: Manifest): string[] {
  if (!POLICY_KINDS.includes(kind)) return [];
  const { value } = body.read();
  const spec = isRecord(value) ? value['spec'] : undefined;
  const param = isRecord(spec) ? spec['paramKind'] : undefined;
  return isRecord(param) ? [`${param['apiVersion']} ${param['kind']}`] : [];
}

/** Objects of these kinds would make the server send requests to other servers. */
const NOT_STORED_KINDS: ReadonlySet<string> = new Set([
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
  'APIService',
]);

class Validation {
  readonly findings: Finding[] = [];
  readonly #target: ValidationTarget;
  readonly #namespace: string;
  /** The manifests that have been created, by the identity of their object. */
  readonly #created = new Map<string, Manifest>();
  readonly #namespaces = new Set<string>();

  constructor(target: ValidationTarget, namespace: string) {
    this.#target = target;
    this.#namespace = namespace;
  }

  async validate(manifest: Manifest): Promise<void> {
    const { apiVersion, kind } = manifest;
    const served = this.#target.kinds().find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
    if (served === undefined) {
      this.#report(manifest, missingKind(manifest, this.#target));
      return;
    }
    if (!served.namespaced && manifest.namespace !== undefined) {
      const message = `${kind} is cluster-scoped and takes no namespace`;
      this.#report(manifest, { level: 'error', rule: 'invalid', message, field: 'metadata.namespace' });
      return;
    }
    if (!served.verbs.includes('create')) {
      this.#report(manifest, { level: 'error', rule: 'invalid', message: `${kind} cannot be created` });
      return;
    }
    const namespace = served.namespaced ? (manifest.namespace ?? this.#namespace) : undefined;
    if (namespace !== undefined) await this.#ensureNamespace(namespace);
    await this.#create({ ...manifest, namespace }, served);
  }

  async #create(manifest: Manifest, served: ServedKind): Promise<void> {
    const { namespace, name, body } = manifest;
    const identity =
      name === undefined ? undefined : `${served.groupKind.group} ${served.gvk.kind} ${namespace}/${name}`;
    const earlier = identity === undefined ? undefined : this.#created.get(identity);
    const at = { resource: served.gvr, ...(namespace === undefined ? {} : { namespace }) };
    if (earlier !== undefined && name !== undefined) {
      this.#report(manifest, {
        level: 'warning',
        rule: 'defined-twice',
        message: `is also defined at ${placeText(earlier.place)}`,
      });
      await this.#remove({ ...at, name });
    }
    try {
      const dryRun = NOT_STORED_KINDS.has(served.gvk.kind) ? { dryRun: ['All'] } : {};
      const options = { fieldValidation: 'Warn', fieldManager: 'orchplane', ...dryRun };
      const { object, warnings } = await this.#send({ verb: 'create', ...at, options, body });
      if (identity !== undefined) this.#created.set(identity, manifest);
      for (const warning of warnings) this.#report(manifest, warningFinding(warning));
      const canApply = name !== undefined && served.verbs.includes('patch');
      if (canApply && hasLostManagers(object as ApiObject)) this.#report(manifest, TOO_LARGE_TO_APPLY);
      await this.#reportConditions(manifest, served, object as ApiObject);
      if (served.gvk.kind === 'ResourceQuota') await this.#activateQuota(at, object as ApiObject);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      for (const warning of error.warnings) this.#report(manifest, warningFinding(warning));
      // The object is valid: the existing one is a part of every cluster.
      if (StatusError.is(error, 'AlreadyExists')) return;
      for (const finding of errorFindings(error)) this.#report(manifest, finding);
    }
  }

  /** What the server writes to the status of CRDs and policies: names that are taken, expressions with wrong types. */
  async #reportConditions(manifest: Manifest, served: ServedKind, created: ApiObject): Promise<void> {
    if (!isCrd(manifest) && !POLICY_KINDS.includes(manifest.kind)) return;
    const { object } = await this.#send({
      verb: 'get',
      resource: served.gvr,
      name: created.metadata.name ?? '',
      options: {},
    });
    const status = isRecord(object) && isRecord(object['status']) ? object['status'] : {};
    for (const { type, status: value, message } of recordsIn(status['conditions'])) {
      if (type !== 'NamesAccepted' || value !== 'False') continue;
      this.#report(manifest, { level: 'error', rule: 'invalid', message: `its names are not accepted: ${message}` });
    }
    const checks = isRecord(status['typeChecking']) ? status['typeChecking'] : {};
    for (const { fieldRef, warning } of recordsIn(checks['expressionWarnings'])) {
      const message = `${fieldRef}: ${String(warning).trim()}`;
      this.#report(manifest, { level: 'warning', rule: 'warning', message, field: String(fieldRef) });
    }
  }

  /** Admission enforces the limits in the status, which a controller of a running cluster writes. */
  async #activateQuota(at: Pick<ApiRequest, 'resource' | 'namespace'>, quota: ApiObject): Promise<void> {
    const { spec, metadata } = quota as ApiObject & {
      readonly spec?: { readonly hard?: Readonly<Record<string, unknown>> };
    };
    const hard = spec?.hard ?? {};
    const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
    const body = valueBody({ ...quota, status: { hard, used } });
    const { name } = metadata;
    await this.#send({ verb: 'update', ...at, name, subresource: 'status', options: {}, body });
  }

  async #remove(at: Pick<ApiRequest, 'resource' | 'namespace' | 'name'>): Promise<void> {
    const options = { gracePeriodSeconds: 0, propagationPolicy: 'Background' };
    try {
      await this.#send({ verb: 'delete', ...at, options });
    } catch (error) {
      // Namespaces and objects with finalizers remain; the second document then counts as valid if it could be created.
      if (!StatusError.is(error)) throw error;
    }
  }

  async #ensureNamespace(name: string): Promise<void> {
    if (this.#namespaces.has(name)) return;
    this.#namespaces.add(name);
    try {
      const resource = { group: '', version: 'v1', resource: 'namespaces' };
      const body = valueBody({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await this.#send({ verb: 'create', resource, options: {}, body });
    } catch (error) {
      // An invalid name is reported for the object itself.
      if (!StatusError.is(error)) throw error;
    }
  }

  #send(request: ApiRequest): Promise<ObjectResponse> {
    return sendForResponse(this.#target, request);
  }

  #report(manifest: Manifest, problem: Problem): void {
    const { field } = problem;
    const { source } = manifest;
    const line = field === undefined || source === undefined ? undefined : lineOf(source, field);
    this.findings.push({ ...problem, ...findingPlace(manifest.place, line), object: objectOf(manifest) });
  }
}

/** Smaller objects have no managedFields for other reasons: of duplicate keys in their lists. */
const LARGE_BYTES = 256 * 1024;

/** Whether storage has no room for the managedFields of a new object. A create leaves them out, but an apply is rejected. */
function hasLostManagers(object: ApiObject): boolean {
  return object.metadata.managedFields === undefined && unsharedBytes(object) > LARGE_BYTES;
}

type Problem = Pick<Finding, 'level' | 'rule' | 'message' | 'field'>;

const TOO_LARGE_TO_APPLY: Problem = {
  level: 'warning',
  rule: 'invalid',
  message: 'is too large with its managedFields: it can be created without them, but a server-side apply is rejected',
};

function objectOf({ apiVersion, kind, namespace, name, generateName }: Manifest): FindingObject {
  const shown = name ?? generateName;
  return {
    apiVersion,
    kind,
    ...(namespace === undefined ? {} : { namespace }),
    ...(shown === undefined ? {} : { name: shown }),
  };
}

/** Longer names are cut in messages. */
const MAX_NAME = 253;

/** Why no kind of the manifest is served. */
function missingKind({ apiVersion, kind }: Manifest, target: ValidationTarget): Problem {
  const facts = versionFacts(apiVersion, kind);
  if (facts !== undefined && facts !== 'unknown version') {
    const { removedIn, introducedIn } = facts;
    const replacement = replacementIn(target.release, facts);
    const state = stateIn(target.release, facts);
    const instead = replacement === undefined ? '' : `; use ${replacement}`;
    if (state === 'removed' || state === 'not introduced') {
      const when = state === 'removed' ? `was removed in release ${removedIn}` : `appears in release ${introducedIn}`;
      return {
        level: 'error',
        rule: 'removed',
        message: `${apiVersion} ${kind} ${when}${instead}`,
        field: 'apiVersion',
      };
    }
  }
  const message = `no kind ${kind.slice(0, MAX_NAME)} in ${apiVersion.slice(0, MAX_NAME)} is served${whyNotServed({ apiVersion, kind }, target.kinds())}`;
  return { level: 'error', rule: 'unknown-kind', message, field: 'apiVersion' };
}

/** One finding for each cause. */
function errorFindings(error: StatusError): Problem[] {
  const rule = StatusError.is(error, 'Forbidden') ? 'forbidden' : 'invalid';
  const causes = (error.status.details?.causes ?? []).filter(({ message }) => message !== undefined);
  if (causes.length === 0 || !StatusError.is(error, 'Invalid')) {
    const field = fieldInMessage(error.message);
    return [{ level: 'error', rule, message: error.message, ...(field === undefined ? {} : { field }) }];
  }
  return causes.map(({ field, message }) => {
    const hasField = field !== undefined && field !== '' && !field.startsWith('<');
    return {
      level: 'error',
      rule: POLICY_DENIAL.test(message ?? '') ? 'forbidden' : rule,
      message: `${hasField ? `${field}: ` : ''}${message}`,
      ...(hasField ? { field } : {}),
    };
  });
}

/** A policy chooses the reason of its denials; by default it is Invalid. */
const POLICY_DENIAL = /^ValidatingAdmissionPolicy '/;

/** `json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32`. */
function fieldInMessage(message: string): string | undefined {
  return /Go struct field \w+\.([\w.]+) of type/.exec(message)?.[1];
}

function warningFinding(warning: string): Problem {
  const unknown = /^(?:unknown|duplicate) field "([^"]*)"$/.exec(warning)?.[1];
  if (unknown !== undefined) return { level: 'warning', rule: 'unknown-field', message: warning, field: unknown };
  const field = /^([a-z][\w-]*(?:\.[\w-]+|\[[^\]]*\])*): /.exec(warning)?.[1];
  const isDeprecation = /\bdeprecated\b/.test(warning);
  return {
    level: 'warning',
    rule: isDeprecation ? 'deprecated' : 'warning',
    message: warning,
    ...(field === undefined ? (isDeprecation ? { field: 'apiVersion' } : {}) : { field }),
  };
}

function recordsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}
