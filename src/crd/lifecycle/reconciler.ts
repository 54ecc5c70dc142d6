/**
 * Reconciles CustomResourceDefinitions: accepts names, serves the kinds and adds them to discovery, and deletes the
 * objects of a CRD before the CRD itself. The reference server uses four controllers that communicate through
 * conditions. Here one reconciler performs the same steps synchronously before the write of the CRD is answered.
 */

import type { Kind } from '../../kinds/kind.js';
import type { ReconcilerHost, ServerReconciler } from '../../kinds/reconciler.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { JournalError } from '../../storage/journal/types.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { caBundleProblem } from '../../webhook/ca-bundle.js';
import { customKindsOf } from '../custom-kinds.js';
import { approvalAnnotation, isProtectedGroup } from '../definition/approval.js';
import {
  approvalCondition,
  type ConditionText,
  type Crd,
  conditionOf,
  isConditionTrue,
  isSameCondition,
  isServed,
  isTerminating,
  withCondition,
  withReadableStatus,
} from './conditions.js';
import { cleanupFinalizer } from './deletion.js';
import { acceptNames, addNames, hasNoNames, type NamesInUse, noNames } from './names.js';

const CRDS: GroupResource = { group: serviceGroup('apiextensions'), resource: 'customresourcedefinitions' };

/** Creates the reconciler of a server's CustomResourceDefinitions. */
export function createCrdReconciler(server: ReconcilerHost): ServerReconciler {
  return new CrdReconciler(server);
}

/** The kinds that are served for a CRD, and the inputs they were built from. */
interface ServedCrd {
  readonly inputs: readonly unknown[];
  readonly resource: GroupResource;
  readonly versions: readonly Kind[];
  readonly storageKind: Kind;
}

class CrdReconciler implements ServerReconciler {
  readonly #server: ReconcilerHost;
  #lastChanges = -1;
  /** A status write failed in the journal; reconcile again after the next write. */
  #hasFailedWrite = false;
  readonly #serving = new Map<string, ServedCrd>();
  /** Each CRD as of its last reconcile; undefined if that failed. */
  readonly #reconciled = new Map<string, Crd | undefined>();
  /** The CRDs whose last reconcile failed. */
  readonly #failed = new Set<string>();
  /** The accepted names of CRDs by group; a group is absent until its names are needed. */
  readonly #acceptedNames = new Map<string, NamesInUse>();
  /** CRDs whose names are not all accepted. */
  readonly #nameConflicts = new Set<string>();
  /** The CRDs that wait for the deletion of their objects, and their resources. */
  readonly #terminating = new Map<string, GroupResource>();
  /** The names of CRDs, and the UIDs of those whose cleanup waits, or has waited, for realistic pacing. */
  readonly #paced = new Map<string, { readonly uid: string; isOver: boolean }>();
  /** The CRDs that this reconciler wrote since the last pass. */
  readonly #written = new Set<string>();
  /** Terminating CRDs whose objects a webhook has converted, so that they can be deleted. */
  readonly #converted = new Set<string>();
  #writeCount = 0;

  constructor(server: ReconcilerHost) {
    this.#server = server;
  }

  reconcile(): void {
    if (this.#hasFailedWrite) this.#lastChanges = -1;
    this.#hasFailedWrite = false;
    // A step may cause another step. Every step moves a CRD closer to its final state, so the loop ends. The limit protects
    // the server if a step fails each time.
    let passes = 0;
    for (let readsAll = true; this.#hasWork() && !this.#server.isWriting() && passes < MAX_PASSES; passes++) {
      this.#lastChanges = this.#server.lastChange(CRDS);
      // A CRD with a name conflict is reconciled after every change, because the change may have freed the name.
      const due = new Set([...this.#written, ...this.#nameConflicts]);
      for (const name of this.#terminating.keys()) if (!this.#isPaced(name)) due.add(name);
      this.#written.clear();
      this.#converted.clear();
      this.#writeCount = 0;
      if (readsAll) for (const name of this.#findChanged()) due.add(name);
      // A deleted CRD frees its names for the others.
      for (const name of due) if (this.#getCrd(name) === undefined) this.#forget(name);
      for (const name of [...due].sort()) this.#reconcileIfDue(name);
      // The next pass reads all CRDs only if the changes of this pass are not exactly its own writes.
      readsAll = this.#server.lastChange(CRDS) !== this.#lastChanges + this.#writeCount;
    }
  }

  /** The names of CRDs that changed or appeared since their last reconcile, and of those that were deleted. */
  #findChanged(): readonly string[] {
    const names =
      this.#server.changedNames(CRDS) ??
      new Set([...this.#reconciled.keys(), ...this.#crds().map(({ metadata }) => metadata.name)]);
    const changed: string[] = [];
    const failed = [...this.#failed];
    this.#failed.clear();
    for (const name of new Set([...names, ...failed])) {
      const crd = this.#getCrd(name);
      const isKnown = this.#reconciled.has(name);
      if (isKnown ? crd !== undefined && this.#reconciled.get(name) === crd : crd === undefined) continue;
      changed.push(name);
      // A new CRD has no accepted names unless it comes from a restored cluster.
      if (crd !== undefined && (isKnown || !hasNoNames(crd))) this.#acceptedNames.delete(crd.spec.group);
    }
    return changed;
  }

  #reconcileIfDue(name: string): void {
    const crd = this.#getCrd(name);
    if (crd === undefined) return;
    const isSettled = this.#reconciled.get(name) === crd && !this.#nameConflicts.has(name);
    if (isSettled && !this.#awaitsCleanup(crd)) return;
    this.#reconcileSafely(name);
    const live = this.#getCrd(name);
    if (live === undefined) this.#forget(name);
    else if (this.#awaitsCleanup(live)) this.#terminating.set(name, resourceOf(live));
    else this.#terminating.delete(name);
  }

  /**
   * Reconciles one CRD. A CRD whose kinds cannot be built must not block other CRDs or fail the requests of other
   * clients: it is not served, and a condition reports the error.
   */
  #reconcileSafely(name: string): void {
    try {
      this.#reconcileCrd(name);
    } catch (error) {
      // The CRD itself is written; the status write is retried after the next write.
      if (error instanceof JournalError) {
        this.#hasFailedWrite = true;
        this.#reconciled.set(name, undefined);
        this.#failed.add(name);
        return;
      }
      this.#unserve(name);
      const message = messageOf(error);
      const failure: ConditionText = { type: 'Served', status: 'False', reason: 'InternalError', message };
      this.#updateStatus(name, (crd) => this.#conditionChange(crd, failure));
    }
    const crd = this.#getCrd(name);
    if (crd === undefined) return;
    this.#reconciled.set(name, crd);
    if (deepEqual(crd.spec.names, crd.status.acceptedNames)) this.#nameConflicts.delete(name);
    else this.#nameConflicts.add(name);
  }

  #awaitsCleanup({ metadata }: Crd): boolean {
    if (metadata.deletionTimestamp === undefined) return false;
    return metadata.finalizers?.includes(cleanupFinalizer(this.#server.dialect)) === true;
  }

  #hasWork(): boolean {
    if (this.#server.lastChange(CRDS) !== this.#lastChanges || this.#converted.size > 0) return true;
    return [...this.#terminating].some(([name, resource]) => !this.#isPaced(name) && this.#isEmpty(resource));
  }

  /** Whether its cleanup waits. There may be thousands: each would be looked at after each change of another one. */
  #isPaced(name: string): boolean {
    return this.#paced.get(name)?.isOver === false;
  }

  #crds(): readonly Crd[] {
    return this.#server.objects.list(CRDS).map(withReadableStatus);
  }

  #getCrd(name: string): Crd | undefined {
    const object = this.#server.objects.get({ ...CRDS, namespace: '', name });
    return object === undefined ? undefined : withReadableStatus(object);
  }

  #isEmpty(resource: GroupResource): boolean {
    return this.#server.objects.list(resource).length === 0;
  }

  #reconcileCrd(name: string): void {
    this.#updateStatus(name, (crd) => this.#approvalStatus(crd));
    this.#updateStatus(name, (crd) => this.#namesStatus(crd));
    this.#serve(name);
    this.#updateStatus(name, (crd) => this.#establishedStatus(crd));
    const crd = this.#getCrd(name);
    if (crd === undefined || !this.#awaitsCleanup(crd)) return;
    this.#deleteObjects(crd);
    // The Terminating condition decides whether creates are rejected.
    this.#serve(name);
  }

  /** Writes the status change that a step returns, if any. */
  #updateStatus(name: string, step: (crd: Crd) => Partial<Crd['status']> | undefined): void {
    const crd = this.#getCrd(name);
    const change = crd === undefined ? undefined : step(crd);
    if (crd !== undefined && change !== undefined) this.#write(crd, change);
  }

  #write(crd: Crd, change: Partial<Crd['status']>, alter?: (draft: DraftObject) => void): void {
    const isAccepted = this.#server.writeStatus(crd as ApiObject, (draft) => {
      draft['status'] = { ...crd.status, ...change };
      alter?.(draft);
    });
    if (!isAccepted) return;
    if (change.acceptedNames !== undefined) this.#recordNames(crd, change.acceptedNames);
    this.#written.add(crd.metadata.name);
    this.#writeCount++;
  }

  #recordNames(crd: Crd, accepted: Crd['status']['acceptedNames']): void {
    const { group } = crd.spec;
    const names = this.#acceptedNames.get(group);
    if (names === undefined) return;
    // Names that are no longer accepted are only known by reading the group again.
    if (hasNoNames(crd)) addNames(names, accepted);
    else this.#acceptedNames.delete(group);
  }

  #approvalStatus(crd: Crd): Partial<Crd['status']> | undefined {
    const { dialect } = this.#server;
    if (!isProtectedGroup(crd.spec.group, dialect)) return undefined;
    const text = crd.metadata.annotations?.[approvalAnnotation(dialect)] ?? '';
    return this.#conditionChange(crd, approvalCondition(text, dialect));
  }

  #conditionChange(crd: Crd, condition: ConditionText): Partial<Crd['status']> | undefined {
    if (isSameCondition(conditionOf(crd, condition.type), condition)) return undefined;
    return { conditions: withCondition(crd.status.conditions, condition, this.#server.now()) };
  }

  #namesStatus(crd: Crd): Partial<Crd['status']> | undefined {
    const { spec, status } = crd;
    if (deepEqual(spec.names, status.acceptedNames)) return undefined;
    const { names, condition } = acceptNames(crd, this.#namesInUse(crd));
    const now = this.#server.now();
    const before = conditionOf(crd, 'Established');
    let established = before as ConditionText | undefined;
    if (before?.status !== 'True' && condition.status === 'True') {
      established = { ...ESTABLISHED, status: 'False', reason: 'Installing' };
    }
    established ??= {
      type: 'Established',
      status: 'False',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    };
    const conditions = withCondition(withCondition(status.conditions, condition, now), established, now);
    if (deepEqual(names, status.acceptedNames) && deepEqual(conditions, status.conditions)) return undefined;
    return { acceptedNames: names, conditions };
  }

  /**
   * The names in use in the group: accepted names of CRDs and names of other kinds. The CRD's own accepted names are
   * included: a short name cannot become the singular name in one step.
   */
  #namesInUse({ spec }: Crd): readonly NamesInUse[] {
    let taken = this.#acceptedNames.get(spec.group);
    if (taken === undefined) {
      taken = noNames();
      for (const other of this.#crds()) {
        if (other.spec.group === spec.group) addNames(taken, other.status.acceptedNames);
      }
      this.#acceptedNames.set(spec.group, taken);
    }
    const installed = noNames();
    for (const { kind, gvr } of this.#server.installedKinds()) {
      if (gvr.group === spec.group) addNames(installed, { ...kind.names, kind: kind.kind });
    }
    return [taken, installed];
  }

  #establishedStatus(crd: Crd): Partial<Crd['status']> | undefined {
    if (!isConditionTrue(crd, 'NamesAccepted') || isConditionTrue(crd, 'Established')) return undefined;
    if (hasInvalidCaBundle(crd)) return this.#conditionChange(crd, INVALID_CA_BUNDLE);
    return this.#conditionChange(crd, { ...ESTABLISHED, status: 'True', reason: 'InitialNamesAccepted' });
  }

  #serve(name: string): void {
    const crd = this.#getCrd(name);
    if (crd === undefined) return;
    if (!isServed(crd) || hasInvalidCaBundle(crd)) {
      this.#unserve(name);
      return;
    }
    const { spec, status } = crd;
    const inputs = [spec, status.acceptedNames, isTerminating(crd)];
    const before = this.#serving.get(name);
    if (before !== undefined && deepEqual(before.inputs, inputs)) return;
    const kinds = customKindsOf(crd, this.#server);
    const resource = resourceOf(crd);
    // A watch serves objects as the CRD was when it started, so it ends when the CRD changes. It continues while the
    // CRD is terminating, to deliver the deletions.
    const isSameSpec = deepEqual(before?.inputs.slice(0, 2), inputs.slice(0, 2));
    if (before !== undefined && !isSameSpec) this.#server.endWatches(resource);
    this.#serving.set(name, { inputs, resource, ...kinds });
    this.#server.serveCustomKinds(name, kinds.versions, kinds.storageKind);
  }

  #deleteObjects(crd: Crd): void {
    if (!isConditionTrue(crd, 'Established')) {
      this.#removeFinalizer(crd, {
        ...TERMINATING,
        reason: 'NeverEstablished',
        message: 'resource was never established',
      });
      return;
    }
    const resource = resourceOf(crd);
    const progress: ConditionText = {
      ...TERMINATING,
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    };
    const change = this.#conditionChange(crd, progress);
    if (change !== undefined) this.#write(crd, change);
    const { name } = crd.metadata;
    if (!this.#isEmpty(resource)) this.#server.deleteAll(resource, () => this.#converted.add(name));
    const live = this.#getCrd(crd.metadata.name);
    if (live === undefined || !this.#isEmpty(resource) || this.#isPausing(live)) return;
    this.#removeFinalizer(live, {
      ...TERMINATING,
      reason: 'InstanceDeletionCompleted',
      message: 'removed all instances',
    });
  }

  /** Whether the last step waits for realistic pacing. */
  #isPausing({ metadata: { name, uid } }: Crd): boolean {
    const known = this.#paced.get(name);
    if (known?.uid === uid) return !known.isOver;
    const pause = { uid, isOver: false };
    const end = (): void => {
      pause.isOver = true;
    };
    if (!this.#server.pace(CLEANUP_MS, end)) return false;
    this.#paced.set(name, pause);
    return true;
  }

  /** Removes the cleanup finalizer after the last object is deleted. */
  #removeFinalizer(crd: Crd, condition: ConditionText): void {
    const finalizer = cleanupFinalizer(this.#server.dialect);
    this.#write(crd, this.#conditionChange(crd, condition) ?? {}, (draft) => {
      draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    });
  }

  /** Discards the state of a deleted CRD. */
  #forget(name: string): void {
    // The name of a CRD is `<plural>.<group>`.
    this.#acceptedNames.delete(name.slice(name.indexOf('.') + 1));
    this.#reconciled.delete(name);
    this.#nameConflicts.delete(name);
    this.#terminating.delete(name);
    this.#paced.delete(name);
    this.#unserve(name);
  }

  #unserve(name: string): void {
    const serving = this.#serving.get(name);
    if (serving === undefined) return;
    this.#serving.delete(name);
    this.#server.endWatches(serving.resource);
    this.#server.serveCustomKinds(name, [], undefined);
  }
}

/** Twenty times as many as a CRD needs. */
const MAX_PASSES = 100;

/** True if a CRD that is not established has an invalid conversion webhook CA bundle. */
function hasInvalidCaBundle(crd: Crd): boolean {
  if (isConditionTrue(crd, 'Established')) return false;
  return caBundleProblem(crd.spec.conversion?.webhook?.clientConfig?.caBundle) !== undefined;
}

/** How long the reference server takes to remove a CRD without objects. */
const CLEANUP_MS = 20;

const ESTABLISHED = { type: 'Established', message: 'the initial names have been accepted' } as const;
const INVALID_CA_BUNDLE: ConditionText = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};
const TERMINATING = { type: 'Terminating', status: 'False' } as const;

function resourceOf({ spec }: Crd): GroupResource {
  return { group: spec.group, resource: spec.names.plural };
}
