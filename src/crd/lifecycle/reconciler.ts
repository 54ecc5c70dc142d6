/**
 * Reconciles CustomResourceDefinitions: accepts names, serves the kinds and adds them to discovery, and deletes the
 * objects of a CRD before the CRD itself. The reference server uses four controllers that communicate through
 * conditions. Here one reconciler performs the same steps synchronously before the write of the CRD is answered.
 */

import type { Kind } from '../../kinds/kind.js';
import type { ReconcilerHost, ServerReconciler } from '../../kinds/reconciler.js';
import type { Dialect } from '../../meta/dialect.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { JournalError } from '../../storage/journal/types.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { type CustomVersions, customVersions } from '../custom-kinds.js';
import {
  type Approval,
  approvalAnnotation,
  approvalMessage,
  approvalOf,
  isProtectedGroup,
} from '../definition/approval.js';
import { bundleProblem } from '../definition/ca-bundle.js';
import {
  type ConditionText,
  conditionOf,
  type Definition,
  isServed,
  isTerminating,
  isTrue,
  sameCondition,
  withCondition,
} from './conditions.js';
import { cleanupFinalizer } from './deletion.js';
import { acceptNames, type TakenNames, takeNames } from './names.js';

const DEFINITIONS: GroupResource = { group: serviceGroup('apiextensions'), resource: 'customresourcedefinitions' };

export function attendDefinitions(server: ReconcilerHost): ServerReconciler {
  return new DefinitionAttendant(server);
}

/** The kinds that are served for a CRD, and the inputs they were built from. */
interface Serving {
  readonly basis: readonly unknown[];
  readonly resource: GroupResource;
  readonly versions: readonly Kind[];
  readonly stored: Kind;
}

class DefinitionAttendant implements ServerReconciler {
  readonly #server: ReconcilerHost;
  #seen = -1;
  /** A status write failed in the journal; reconcile again after the next write. */
  #isBehind = false;
  readonly #serving = new Map<string, Serving>();
  /** Each CRD as of its last reconcile. */
  readonly #attended = new Map<string, Definition>();
  /** CRDs whose names are not all accepted. */
  readonly #waiting = new Set<string>();
  /** The resources of CRDs that wait for the deletion of their objects. */
  #terminating: readonly GroupResource[] = [];

  constructor(server: ReconcilerHost) {
    this.#server = server;
  }

  reconcile(): void {
    if (this.#isBehind) this.#seen = -1;
    this.#isBehind = false;
    // A step may cause another step. Every step moves a CRD closer to its final state, so the loop ends.
    while (this.#hasWork()) {
      this.#seen = this.#server.writeCount(DEFINITIONS);
      for (const definition of this.#definitions()) {
        const { name } = definition.metadata;
        // A CRD with a name conflict is reconciled after every change, because the change may have freed the name.
        const isSettled = this.#attended.get(name) === definition && !this.#waiting.has(name);
        if (!isSettled || this.#isWaited(definition)) this.#attendSafely(name);
      }
      this.#forgetTheGone();
      this.#terminating = this.#definitions()
        .filter((definition) => this.#isWaited(definition))
        .map(resourceOf);
    }
  }

  /**
   * Reconciles one CRD. A CRD whose kinds cannot be built must not block other CRDs or fail the requests of other
   * clients: it is not served, and a condition reports the error.
   */
  #attendSafely(name: string): void {
    try {
      this.#attend(name);
    } catch (error) {
      // The CRD itself is written; the status write is retried after the next write.
      if (error instanceof JournalError) {
        this.#isBehind = true;
        return;
      }
      this.#unserve(name);
      const message = messageOf(error);
      const failure: ConditionText = { type: 'Served', status: 'False', reason: 'InternalError', message };
      this.#step(name, (definition) => this.#changed(definition, failure));
    }
    const definition = this.#live(name);
    if (definition === undefined) return;
    this.#attended.set(name, definition);
    if (deepEqual(definition.spec.names, definition.status.acceptedNames)) this.#waiting.delete(name);
    else this.#waiting.add(name);
  }

  #isWaited({ metadata }: Definition): boolean {
    const own = cleanupFinalizer(this.#server.dialect);
    return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(own) === true;
  }

  #hasWork(): boolean {
    if (this.#server.writeCount(DEFINITIONS) !== this.#seen) return true;
    return this.#terminating.some((resource) => this.#isEmpty(resource));
  }

  #definitions(): readonly Definition[] {
    return this.#server.objects.list(DEFINITIONS) as unknown as readonly Definition[];
  }

  #live(name: string): Definition | undefined {
    const object = this.#server.objects.get({ ...DEFINITIONS, namespace: '', name });
    return object as unknown as Definition | undefined;
  }

  #isEmpty(resource: GroupResource): boolean {
    return this.#server.objects.list(resource).length === 0;
  }

  #attend(name: string): void {
    this.#step(name, (definition) => this.#judgeApproval(definition));
    this.#step(name, (definition) => this.#judgeNames(definition));
    this.#serve(name);
    this.#step(name, (definition) => this.#establish(definition));
    const definition = this.#live(name);
    if (definition === undefined || !this.#isWaited(definition)) return;
    this.#finish(definition);
    // The Terminating condition decides whether creates are rejected.
    this.#serve(name);
  }

  /** Writes the status change that a step returns, if any. */
  #step(name: string, wish: (definition: Definition) => Partial<Definition['status']> | undefined): void {
    const definition = this.#live(name);
    const change = definition === undefined ? undefined : wish(definition);
    if (definition !== undefined && change !== undefined) this.#write(definition, change);
  }

  #write(definition: Definition, change: Partial<Definition['status']>, alter?: (draft: DraftObject) => void): void {
    this.#server.writeStatus(definition as unknown as ApiObject, (draft) => {
      draft['status'] = { ...definition.status, ...change };
      alter?.(draft);
    });
  }

  #judgeApproval(definition: Definition): Partial<Definition['status']> | undefined {
    const { dialect } = this.#server;
    if (!isProtectedGroup(definition.spec.group, dialect)) return undefined;
    const text = definition.metadata.annotations?.[approvalAnnotation(dialect)] ?? '';
    return this.#changed(definition, approvalCondition(text, dialect));
  }

  #changed(definition: Definition, condition: ConditionText): Partial<Definition['status']> | undefined {
    if (sameCondition(conditionOf(definition, condition.type), condition)) return undefined;
    return { conditions: withCondition(definition.status.conditions, condition, this.#server.now()) };
  }

  #judgeNames(definition: Definition): Partial<Definition['status']> | undefined {
    const { spec, status } = definition;
    if (deepEqual(spec.names, status.acceptedNames)) return undefined;
    const { names, condition } = acceptNames(definition, this.#taken(definition));
    const now = this.#server.now();
    const before = conditionOf(definition, 'Established');
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
  #taken({ spec }: Definition): TakenNames {
    const taken: TakenNames = { resources: new Set(), kinds: new Set() };
    for (const { spec: other, status } of this.#definitions()) {
      if (other.group === spec.group) takeNames(taken, status.acceptedNames);
    }
    for (const { kind, names } of this.#server.unownedKinds(spec.group)) takeNames(taken, { ...names, kind });
    return taken;
  }

  #establish(definition: Definition): Partial<Definition['status']> | undefined {
    if (!isTrue(definition, 'NamesAccepted') || isTrue(definition, 'Established')) return undefined;
    if (lacksTrust(definition)) return this.#changed(definition, BAD_BUNDLE);
    return this.#changed(definition, { ...ESTABLISHED, status: 'True', reason: 'InitialNamesAccepted' });
  }

  #serve(name: string): void {
    const definition = this.#live(name);
    if (definition === undefined) return;
    if (!isServed(definition) || lacksTrust(definition)) {
      this.#unserve(name);
      return;
    }
    const { spec, status } = definition;
    const basis = [spec, status.acceptedNames, isTerminating(definition)];
    const before = this.#serving.get(name);
    if (before !== undefined && deepEqual(before.basis, basis)) return;
    const made = versionsOf(definition, this.#server);
    const resource = resourceOf(definition);
    // A watch serves objects as the CRD was when it started, so it ends when the CRD changes. It continues while the
    // CRD is terminating, to deliver the deletions.
    const isSameForm = deepEqual(before?.basis.slice(0, 2), basis.slice(0, 2));
    if (before !== undefined && !isSameForm) this.#server.endWatches(resource);
    this.#serving.set(name, { basis, resource, ...made });
    this.#server.serve(name, made.versions, made.stored);
  }

  #finish(definition: Definition): void {
    if (!isTrue(definition, 'Established')) {
      this.#release(definition, {
        ...TERMINATING,
        reason: 'NeverEstablished',
        message: 'resource was never established',
      });
      return;
    }
    const resource = resourceOf(definition);
    const progress: ConditionText = {
      ...TERMINATING,
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    };
    const change = this.#changed(definition, progress);
    if (change !== undefined) this.#write(definition, change);
    if (!this.#isEmpty(resource)) this.#server.deleteAll(resource);
    const live = this.#live(definition.metadata.name);
    if (live === undefined || !this.#isEmpty(resource)) return;
    this.#release(live, { ...TERMINATING, reason: 'InstanceDeletionCompleted', message: 'removed all instances' });
  }

  /** Removes the cleanup finalizer after the last object is deleted. */
  #release(definition: Definition, condition: ConditionText): void {
    const own = cleanupFinalizer(this.#server.dialect);
    this.#write(definition, this.#changed(definition, condition) ?? {}, (draft) => {
      draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter((name) => name !== own);
    });
  }

  #forgetTheGone(): void {
    const present = new Set(this.#definitions().map(({ metadata }) => metadata.name));
    for (const name of [...this.#attended.keys()]) {
      if (present.has(name)) continue;
      this.#attended.delete(name);
      this.#waiting.delete(name);
      this.#unserve(name);
    }
  }

  #unserve(name: string): void {
    const serving = this.#serving.get(name);
    if (serving === undefined) return;
    this.#serving.delete(name);
    this.#server.endWatches(serving.resource);
    this.#server.serve(name, [], undefined);
  }
}

const madeBefore = new WeakMap<
  Definition,
  Pick<ReconcilerHost, 'external' | 'clock' | 'objects'> & { readonly made: CustomVersions }
>();

/**
 * Returns the cached kinds for the same CRD object: a fork of a cluster shares its CRDs and need not build the kinds
 * again.
 */
function versionsOf(definition: Definition, server: ReconcilerHost): CustomVersions {
  const known = madeBefore.get(definition);
  const { external: outside, clock, objects } = server;
  // Webhook converters use the clock and the services of their own cluster, so they cannot be shared with a fork.
  const isOwn = definition.spec.conversion?.strategy === 'Webhook';
  const isSame = known?.external === outside && (!isOwn || (known.clock === clock && known.objects === objects));
  if (isSame) return known.made;
  const made = customVersions(definition, server);
  madeBefore.set(definition, { external: outside, clock, objects, made });
  return made;
}

/** True if a CRD that is not established has an invalid conversion webhook CA bundle. */
function lacksTrust(definition: Definition): boolean {
  if (isTrue(definition, 'Established')) return false;
  return bundleProblem(definition.spec.conversion?.webhook?.clientConfig?.caBundle) !== undefined;
}

const ESTABLISHED = { type: 'Established', message: 'the initial names have been accepted' } as const;
const BAD_BUNDLE: ConditionText = {
  type: 'Established',
  status: 'False',
  reason: 'InvalidCABundle',
  message: 'The conversion webhook CABundle is invalid',
};
const TERMINATING = { type: 'Terminating', status: 'False' } as const;

function resourceOf({ spec }: Definition): GroupResource {
  return { group: spec.group, resource: spec.names.plural };
}

const APPROVAL_REASONS: Readonly<Record<Approval, string>> = {
  approved: 'ApprovedAnnotation',
  bypassed: 'UnapprovedAnnotation',
  invalid: 'InvalidAnnotation',
  missing: 'MissingAnnotation',
};

function approvalCondition(text: string, dialect: Dialect): ConditionText {
  const approval = approvalOf(text);
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: approval === 'approved' ? 'True' : 'False',
    reason: APPROVAL_REASONS[approval],
    message: approvalMessage(text, dialect),
  };
}
