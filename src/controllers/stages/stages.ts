/**
 * The controller that runs stages: an object that matches a stage waits for the delay and is then changed. There is one work
 * queue per kind; delays use the cluster's clock.
 */
import type { Api } from '../../client/api.js';
import type { Kind } from '../../kinds/kind.js';
import { mergeUnsorted } from '../../merge/merge-patch.js';
import { StatusError } from '../../meta/errors.js';
import { deepEqual, isRecord, own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { keyInNamespaceOf } from '../define-controller.js';
import { withCachedApis } from '../runtime/cached-apis.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import type { AnyObject } from '../runtime/owners.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { nodeStages } from './node-stages.js';
import { readyPods } from './ready-pods.js';
import type { Stage, StageContext, StageEvent } from './stage.js';

export interface StagesOptions {
  /** The controller's name; `stages` unless given. Must be unique in a run. */
  readonly name?: string | undefined;
  /** False: the stages record no Events, which is faster. True unless given. */
  readonly events?: boolean | undefined;
}

/**
 * Creates a controller that runs stages. Without rules it makes every pod and every node ready at once.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([stages([...crashLoop({ labels: { app: 'bad' } }), ...readyPods()])]) });
 */
export function stages(
  rules: readonly Stage[] = [...readyPods(), ...nodeStages()],
  options: StagesOptions = {},
): Controller {
  refuseUnknownOptions('stages', options, ['name', 'events']);
  const { events: recordsEvents = true } = options;
  const byKind = new Map<Kind, Stage[]>();
  if (!Array.isArray(rules)) throw new TypeError('orchplane: stages takes a list of stages');
  for (const [at, rule] of rules.entries()) {
    if (typeof (rule as Partial<Stage> | undefined)?.matches === 'function') continue;
    const hint = Array.isArray(rule) ? 'a list has to be spread (...readyPods())' : 'stages are made by stage()';
    throw new TypeError(`orchplane: stages: item ${at} is not a stage: ${hint}`);
  }
  for (const rule of rules) byKind.set(rule.kind, [...(byKind.get(rule.kind) ?? []), rule]);
  for (const list of byKind.values()) checkNames(list);
  return {
    name: options.name ?? 'stages',
    needs: [...byKind].flatMap(([kind, list]) => (list.every((each) => each.optional) ? [] : [kind])),
    start(context) {
      const memory = new Map<string, unknown>();
      for (const [kind, list] of byKind)
        if (context.serves(kind)) new StageRunner(context, { kind, stages: list, memory, recordsEvents }).start();
    },
  };
}

/** The stage that an object waits for. */
interface Choice {
  readonly uid: string;
  /** A deletion, or a changed deletion time, restarts the choice. */
  readonly deletionTimestamp: string | undefined;
  readonly stage: Stage;
  readonly dueMs: number;
}

/** The last stage that ran on an object. */
interface LastRun {
  readonly uid: string;
  readonly stage: Stage;
  /** The resourceVersion it ran on. */
  readonly version: string;
  /** All stages that ran on that version, so that none of them runs twice. */
  readonly onVersion: readonly Stage[];
}

interface StageRunnerOptions {
  readonly kind: Kind;
  readonly stages: readonly Stage[];
  readonly memory: Map<string, unknown>;
  readonly recordsEvents: boolean;
}

class StageRunner extends ControllerPart<StageRunnerOptions> {
  readonly #stages = this.options.stages;
  readonly #kind = this.options.kind;
  readonly #objects = this.context.informer(this.#kind);
  // #lastRuns prevents repetition, so the queue need not wait for the informer to see this controller's writes.
  readonly #queue = this.context.queue((key) => this.#reconcileObject(key), {
    name: this.#kind.kind,
    workers: 8,
    waitsForOwnWrites: false,
  });
  readonly #stageContext: StageContext = {
    ...this.context,
    memory: <Value>(key: string, create: () => Value) => {
      const { memory } = this.options;
      if (!memory.has(key)) memory.set(key, create());
      return memory.get(key) as Value;
    },
    record: (object, event) => this.#record(object, event, undefined),
  };
  readonly #contexts = new Map<string, StageContext>();
  readonly #choices = new Map<string, Choice>();
  readonly #lastRuns = new Map<string, LastRun>();

  start(): void {
    this.#objects.onKey((key) => this.#queue.add(key));
    const watches = new Set(this.#stages.flatMap((each) => each.watches));
    for (const { kind, keysOf } of watches) {
      if (!this.context.serves(kind)) continue;
      this.context.informer(kind).subscribe((event) => {
        for (const mappedKey of keysOf(event.object, this.context)) {
          const key = keyInNamespaceOf(mappedKey, this.#kind, event.object);
          // A related object has changed, so the last stage may run again.
          const lastRun = this.#lastRuns.get(key);
          if (lastRun !== undefined) this.#lastRuns.set(key, { ...lastRun, version: '', onVersion: [] });
          this.#queue.add(key);
        }
      });
    }
  }

  async #reconcileObject(key: string): Promise<ReconcileResult | undefined> {
    const object = this.#objects.at(key) as AnyObject | undefined;
    if (object === undefined) {
      this.#choices.delete(key);
      this.#lastRuns.delete(key);
      return undefined;
    }
    const choice = this.#choose(key, object);
    if (choice === undefined) return undefined;
    const leftMs = choice.dueMs - this.context.clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid, resourceVersion: version } = object.metadata;
    // If the stage fails, the choice is kept for the retry.
    const { stage } = choice;
    await this.#runStage(stage, object);
    this.#choices.delete(key);
    const lastRun = this.#lastRuns.get(key);
    const earlier = lastRun?.uid === uid && lastRun.version === version ? lastRun.onVersion : [];
    this.#lastRuns.set(key, { uid, version, stage, onVersion: [...earlier, stage] });
    // A stage that only records Events is not followed by a change that queues the object for the next stage.
    if (stage.isEventOnly && stage.next !== undefined) this.#queue.add(key);
    return undefined;
  }

  /** Chooses the stage that the object waits for; an earlier choice is kept while it is possible. */
  #choose(key: string, object: AnyObject): Choice | undefined {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata;
    const lastRun = this.#lastRuns.get(key);
    const before = lastRun?.uid === uid ? lastRun : undefined;
    const matching = this.#stages.filter(
      (stage) =>
        (before?.stage.next === undefined || before.stage.next === stage.name) &&
        !(before?.version === resourceVersion && before.onVersion.includes(stage)) &&
        stage.matches(object, this.#stageContext),
    );
    const known = this.#choices.get(key);
    const kept = known?.uid === uid && known.deletionTimestamp === deletionTimestamp ? known : undefined;
    const stage = this.#pick(matching, kept?.stage);
    if (stage === undefined) {
      this.#choices.delete(key);
      return undefined;
    }
    if (kept?.stage === stage) return kept;
    const dueMs = this.context.clock.now() + stage.delayOf(object, this.#stageContext);
    const choice = { uid, deletionTimestamp, stage, dueMs };
    this.#choices.set(key, choice);
    return choice;
  }

  #pick(matching: readonly Stage[], kept: Stage | undefined): Stage | undefined {
    const [first] = matching;
    if (first?.weight === undefined) return first;
    const drawn = matching.filter((stage) => stage.weight !== undefined);
    if (kept !== undefined && drawn.includes(kept)) return kept;
    let left = this.context.ids.random() * drawn.reduce((sum, { weight = 0 }) => sum + weight, 0);
    for (const stage of drawn) {
      left -= stage.weight ?? 0;
      if (left < 0) return stage;
    }
    return drawn.at(-1);
  }

  /** The context of a stage, with a client that uses the stage's field manager. */
  #contextOf({ fieldManager }: Stage): StageContext {
    if (fieldManager === undefined) return this.#stageContext;
    return getOrInsertComputed(this.#contexts, fieldManager, () => {
      const client = withCachedApis(this.context.client.with({ fieldManager }));
      const record: StageContext['record'] = (object, event) => this.#record(object, event, fieldManager);
      return { ...this.#stageContext, client, record };
    });
  }

  #record(
    object: AnyObject,
    { type, reason, message, ...details }: StageEvent,
    fieldManager: string | undefined,
  ): void {
    if (!this.options.recordsEvents) return;
    this.context.events.record(object, type, reason, message, { ...details, fieldManager });
  }

  async #runStage(stage: Stage, object: AnyObject): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    const context = this.#contextOf(stage);
    const { client } = context;
    try {
      await stage.run(object, context);
      const api = client.api(this.#kind, namespace);
      const changes = stage.changesTo(object, this.#stageContext);
      if (changes !== undefined) await this.#change(api, object, changes);
      if (this.options.recordsEvents) {
        for (const event of stage.eventsOf(object, context)) context.record(object, event);
      }
      if (stage.delete) await api.delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // The object was deleted meanwhile, or another one has its name.
      if (StatusError.is(error, 'NotFound') && error.status.details?.name === name) return;
      throw error;
    }
  }

  /**
   * Updates the observed version instead of patching: an update costs the server half as much, and a Conflict is retried at
   * once by the queue.
   */
  async #change(api: Api<Kind>, object: AnyObject, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const { name } = object.metadata;
    const hasStatusSubresource = own(this.#kind.subresources, 'status') !== undefined;
    const { status, ...rest } = changes;
    let current: AnyObject = object;
    const body = hasStatusSubresource ? rest : changes;
    if (!isContained(current, body)) current = (await api.update(merged(current, body))) as AnyObject;
    if (hasStatusSubresource && status !== undefined && !isContained(current, { status })) {
      await api.subresource('status').update(name, merged(current, { status }));
    }
  }
}

/** The object with a merge patch applied. */
function merged(object: AnyObject, patch: Readonly<Record<string, unknown>>): AnyObject {
  return mergeUnsorted({ ...object }, patch) as unknown as AnyObject;
}

/** Whether the patch would change nothing. */
function isContained(present: unknown, patch: unknown): boolean {
  if (patch === null) return present === undefined || present === null;
  if (!isRecord(patch)) return deepEqual(present, patch);
  if (!isRecord(present)) return Object.keys(patch).length === 0 && present === undefined;
  return Object.keys(patch).every((key) => patch[key] === undefined || isContained(own(present, key), patch[key]));
}

function checkNames(list: readonly Stage[]): void {
  const names = new Set(list.map(({ name }) => name));
  for (const { name, next, kind } of list) {
    if (next !== undefined && !names.has(next)) {
      throw new TypeError(`orchplane: the stage ${name} of ${kind.kind} is followed by ${next}, which does not exist`);
    }
  }
}
