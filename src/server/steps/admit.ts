/**
 * Runs mutating and validating admission for a write.
 */
import { runAdmission } from '../../admission/chain.js';
import type { AdmissionPlugin, AdmissionRequest, Operation, Rounds } from '../../admission/types.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { apiVersionOf, type GroupVersionKind } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { User } from '../../protocol/request.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { metaGroup } from '../context.js';
import type { WriteOperation } from '../write-operation.js';
import { redecodeInPlace } from './redecode.js';

const OPTIONS_KINDS: Readonly<Record<Operation, string>> = {
  CREATE: 'CreateOptions',
  // A patch is an update by the time plugins see it.
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
  CONNECT: '',
};

const NONE = Object.freeze({});

const DELETION_FIELDS = ['gracePeriodSeconds', 'preconditions', 'orphanDependents', 'propagationPolicy', 'dryRun'];

/** What admission decides about. */
export interface AdmissionInput {
  readonly operation: Operation;
  readonly object?: DraftObject | ApiObject | undefined;
  readonly oldObject?: ApiObject | undefined;
  /** The kind of both objects, if it differs from the kind of the request. */
  readonly objectKind?: ServedKind | undefined;
}

/** Mutating plugins run a second time if one of them asks for reinvocation. */
export function runAdmissionPhase(
  phase: 'mutate' | 'validate',
  admitted: AdmissionInput,
  write: WriteOperation,
): MaybePromise<void> {
  const { admission, clusterView: view } = write.server;
  const plugins = pluginsFor(write);
  if (plugins.length === 0) return undefined;
  const request = new WriteAdmissionRequest(admitted, write);
  if (phase === 'validate') {
    // Effects of an earlier attempt are discarded.
    if (write.commitEffects.length > 0) write.commitEffects.length = 0;
    return runAdmission(plugins, phase, { request, view, chain: admission.all });
  }
  return chain(runAdmission(plugins, phase, { request, view, chain: admission.all }), () => {
    if (!request.hasRounds || !request.rounds.isReinvocationRequested) return undefined;
    request.rounds.round = 1;
    return runAdmission(pluginsFor(write), phase, { request, view, chain: admission.all });
  });
}

/** With asynchronous conversion, an idle plugin may become active during the write, so no plugin is skipped. */
function pluginsFor({ served, server: { admission } }: WriteOperation): readonly AdmissionPlugin[] {
  return served.kind.customResourceHandler?.mayBeAsynchronous === true ? admission.all : admission.active();
}

/** Runs the functions that plugins passed to {@link AdmissionRequest.beforeCommit}. The commit follows synchronously. */
export function runCommitEffects(write: WriteOperation): void {
  if (write.commitEffects.length === 0 || write.dryRun) return;
  for (const effect of write.commitEffects.splice(0)) effect();
}

/** Computes members on access, because most plugins read only a few. */
class WriteAdmissionRequest implements AdmissionRequest<DraftObject> {
  readonly #write: WriteOperation;
  readonly #as: ServedKind | undefined;
  #options: Readonly<Record<string, unknown>> | undefined;
  #rounds: AdmissionRounds | undefined;
  readonly operation: Operation;
  readonly served: ServedKind;
  readonly object: DraftObject | undefined;
  readonly oldObject: ApiObject | undefined;

  constructor({ operation, object, oldObject, objectKind }: AdmissionInput, write: WriteOperation) {
    this.#write = write;
    this.#as = objectKind;
    this.operation = operation;
    this.served = write.served;
    // The chain passes it to validating plugins with the type of a finished object.
    this.object = object as DraftObject | undefined;
    this.oldObject = oldObject;
  }

  get subresource(): string {
    return this.#write.request.subresource ?? '';
  }

  get namespace(): string {
    return this.served.kind.isOwnNamespace === true ? this.sentName : this.#write.namespace;
  }

  get name(): string {
    return this.sentName || this.object?.metadata.generateName || '';
  }

  get sentName(): string {
    const { request, isCollectionDelete } = this.#write;
    if (isCollectionDelete) return '';
    return request.name || (this.object ?? this.oldObject)?.metadata.name || '';
  }

  get dryRun(): boolean {
    return this.#write.dryRun;
  }

  get user(): User {
    return this.#write.user;
  }

  get objectKind(): GroupVersionKind {
    return (this.#as ?? this.served).gvk;
  }

  get options(): Readonly<Record<string, unknown>> {
    this.#options ??= admissionOptions(this.operation, this.#write);
    return this.#options;
  }

  get warnings(): string[] {
    return this.#write.warnings;
  }

  /** Whether a plugin has read `rounds`. */
  get hasRounds(): boolean {
    return this.#rounds !== undefined;
  }

  get rounds(): AdmissionRounds {
    this.#rounds ??= new AdmissionRounds();
    return this.#rounds;
  }

  annotate(key: string, value: string, shows?: 'body'): void {
    this.#write.request.audit?.annotate(key, value, shows);
  }

  beforeCommit(effect: () => void): void {
    this.#write.commitEffects.push(effect);
  }

  normalize(): void {
    if (this.object !== undefined) redecodeInPlace(this.object, this.#as ?? this.served, this.#write);
  }
}

class AdmissionRounds implements Rounds {
  round = 0;
  isReinvocationRequested = false;
  readonly pluginState = new Map<AdmissionPlugin, unknown>();

  requestReinvocation(): void {
    this.isReinvocationRequested = true;
  }
}

function admissionOptions(operation: Operation, write: WriteOperation): Readonly<Record<string, unknown>> {
  const kind = OPTIONS_KINDS[operation];
  if (kind === '') return NONE;
  const { server, request } = write;
  const typed = { kind, apiVersion: apiVersionOf({ group: metaGroup(server.dialect), version: 'v1' }) };
  if (operation === 'DELETE') return { ...typed, ...deleteOptionsOf(write.deleteOptions ?? {}) };
  const { dryRun, fieldManager, fieldValidation } = request.options;
  return {
    ...typed,
    ...(dryRun === undefined ? {} : { dryRun: [...dryRun] }),
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

function deleteOptionsOf(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    DELETION_FIELDS.flatMap((field) => (options[field] === undefined ? [] : [[field, options[field]]])),
  );
}
