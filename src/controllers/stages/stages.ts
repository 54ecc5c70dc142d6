/**
 * Carries stages out: each object that matches one waits for its time and then becomes what the stage says. One queue for
 * each kind; waiting is on the cluster's clock.
 */
import type { Api } from '../../client/api.js';
import type { Kind } from '../../kinds/kind.js';
import { mergeInOrder } from '../../merge/merge-patch.js';
import { StatusError } from '../../meta/errors.js';
import { deepEqual, isRecord, own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { placedKey } from '../define-controller.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import type { AnyObject } from '../runtime/owners.js';
import { remembering } from '../runtime/remembering-client.js';
import type { SharedInformer } from '../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../runtime/work-queue.js';
import { nodeStages } from './node-stages.js';
import { readyPods } from './ready-pods.js';
import type { Stage, StageContext } from './stage.js';

export interface StagesOptions {
  /** Of the controller; `stages` unless given. Two that run together need two names. */
  readonly name?: string | undefined;
}

/**
 * A controller that moves objects from stage to stage. Without rules it makes every pod ready, and every node, at once.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([stages([...crashLoop({ labels: { app: 'bad' } }), ...readyPods()])]) });
 */
export function stages(
  rules: readonly Stage[] = [...readyPods(), ...nodeStages()],
  options: StagesOptions = {},
): Controller {
  refuseUnknownOptions('stages', options, ['name']);
  const byKind = new Map<Kind, Stage[]>();
  if (!Array.isArray(rules)) throw new TypeError('orchplane: stages takes a list of stages');
  for (const [at, rule] of rules.entries()) {
    if (typeof (rule as Partial<Stage> | undefined)?.matches === 'function') continue;
    const hint = Array.isArray(rule) ? 'a list has to be spread (...readyPods())' : 'stages are made by stage()';
    throw new TypeError(`orchplane: stages: what stands at ${at} is no stage: ${hint}`);
  }
  for (const rule of rules) byKind.set(rule.kind, [...(byKind.get(rule.kind) ?? []), rule]);
  for (const list of byKind.values()) checkNames(list);
  return {
    name: options.name ?? 'stages',
    needs: [...byKind].flatMap(([kind, list]) => (list.every((each) => each.optional) ? [] : [kind])),
    start(context) {
      const memory = new Map<string, unknown>();
      for (const [kind, list] of byKind) if (context.serves(kind)) new Stager(context, kind, list, memory).start();
    },
  };
}

/** What an object waits for. */
interface Choice {
  readonly uid: string;
  /** Whoever is deleted has other delays, and others again when its end comes nearer. */
  readonly deletionTimestamp: string | undefined;
  readonly stage: Stage;
  readonly dueMs: number;
}

/** What was done last, and to which state of the object: it is not done twice. */
interface Done {
  readonly uid: string;
  readonly version: string;
  readonly stage: Stage;
}

class Stager {
  readonly #context: ControllerContext;
  readonly #stages: readonly Stage[];
  readonly #kind: Kind;
  readonly #objects: SharedInformer<Kind>;
  readonly #queue: WorkQueue;
  readonly #stageContext: StageContext;
  /** By the name of a manager. */
  readonly #named = new Map<string, StageContext>();
  readonly #choices = new Map<string, Choice>();
  readonly #done = new Map<string, Done>();

  constructor(context: ControllerContext, kind: Kind, list: readonly Stage[], memory: Map<string, unknown>) {
    this.#context = context;
    this.#kind = kind;
    this.#stages = list;
    this.#objects = context.informer(kind);
    // What it has done to an object it remembers itself, so it need not wait for the news of it.
    this.#queue = context.queue((key) => this.#look(key), { name: kind.kind, workers: 8, waitsForOwnWrites: false });
    const { client, clock, dialect, ids, now, serves, informer } = context;
    this.#stageContext = {
      client,
      clock,
      dialect,
      ids,
      now,
      serves,
      informer,
      memory: <Value>(key: string, make: () => Value) => {
        if (!memory.has(key)) memory.set(key, make());
        return memory.get(key) as Value;
      },
    };
  }

  start(): void {
    this.#objects.onKey((key) => this.#queue.add(key));
    const watches = new Set(this.#stages.flatMap((each) => each.watches));
    for (const { kind, keysOf } of watches) {
      if (!this.#context.serves(kind)) continue;
      this.#context.informer(kind).subscribe((event) => {
        for (const told of keysOf(event.object, this.#context)) {
          const key = placedKey(told, this.#kind, event.object);
          // The world around it has changed, so what was done to it may be done again.
          const done = this.#done.get(key);
          if (done !== undefined) this.#done.set(key, { ...done, version: '' });
          this.#queue.add(key);
        }
      });
    }
  }

  async #look(key: string): Promise<Again | undefined> {
    const object = this.#objects.at(key) as AnyObject | undefined;
    if (object === undefined) {
      this.#choices.delete(key);
      this.#done.delete(key);
      return undefined;
    }
    const choice = this.#choose(key, object);
    if (choice === undefined) return undefined;
    const leftMs = choice.dueMs - this.#context.clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    const { uid, resourceVersion: version } = object.metadata;
    // One that fails is still the one to be carried out.
    await this.#carryOut(choice.stage, object);
    this.#choices.delete(key);
    this.#done.set(key, { uid, version, stage: choice.stage });
    return undefined;
  }

  /** The stage that the object waits for; one that was chosen before stays chosen as long as it may. */
  #choose(key: string, object: AnyObject): Choice | undefined {
    const { uid, resourceVersion, deletionTimestamp } = object.metadata;
    const done = this.#done.get(key);
    const before = done?.uid === uid ? done : undefined;
    const matching = this.#stages.filter(
      (stage) =>
        (before?.stage.next === undefined || before.stage.next === stage.name) &&
        !(before?.version === resourceVersion && before.stage === stage) &&
        stage.matches(object, this.#stageContext),
    );
    const known = this.#choices.get(key);
    const kept = known?.uid === uid && known.deletionTimestamp === deletionTimestamp ? known : undefined;
    const stage = this.#oneOf(matching, kept?.stage);
    if (stage === undefined) {
      this.#choices.delete(key);
      return undefined;
    }
    if (kept?.stage === stage) return kept;
    const dueMs = this.#context.clock.now() + stage.delayOf(object, this.#stageContext);
    const choice = { uid, deletionTimestamp, stage, dueMs };
    this.#choices.set(key, choice);
    return choice;
  }

  #oneOf(matching: readonly Stage[], kept: Stage | undefined): Stage | undefined {
    const [first] = matching;
    if (first?.weight === undefined) return first;
    const drawn = matching.filter((stage) => stage.weight !== undefined);
    if (kept !== undefined && drawn.includes(kept)) return kept;
    let left = this.#context.ids.random() * drawn.reduce((sum, { weight = 0 }) => sum + weight, 0);
    for (const stage of drawn) {
      left -= stage.weight ?? 0;
      if (left < 0) return stage;
    }
    return drawn.at(-1);
  }

  /** What a stage gets, with a client that writes in its name. */
  #contextOf({ fieldManager }: Stage): StageContext {
    if (fieldManager === undefined) return this.#stageContext;
    let context = this.#named.get(fieldManager);
    if (context === undefined) {
      const client = remembering(this.#context.client.with({ fieldManager }));
      context = { ...this.#stageContext, client };
      this.#named.set(fieldManager, context);
    }
    return context;
  }

  async #carryOut(stage: Stage, object: AnyObject): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    const context = this.#contextOf(stage);
    const { client } = context;
    try {
      await stage.run(object, context);
      const api = client.api(this.#kind, namespace);
      const changes = stage.changesTo(object, this.#stageContext);
      if (changes !== undefined) await this.#change(api, object, changes);
      const event = stage.eventOf(object);
      if (event !== undefined) this.#context.events.record(object, event.type, event.reason, event.message);
      if (stage.delete) await api.delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
    } catch (error) {
      // It has gone meanwhile, or another one has its name: nothing is left to be done to it.
      if (StatusError.is(error, 'NotFound') && error.status.details?.name === name) return;
      throw error;
    }
  }

  /**
   * Replaces what was seen, in that very version: an update costs the server half of what a patch does, and who was faster
   * is no trouble, because the look is taken again at once.
   */
  async #change(api: Api<Kind>, object: AnyObject, changes: Readonly<Record<string, unknown>>): Promise<void> {
    const { name } = object.metadata;
    const isApart = own(this.#kind.subresources, 'status') !== undefined;
    const { status, ...rest } = changes;
    let current: AnyObject = object;
    const body = isApart ? rest : changes;
    if (!isContained(current, body)) current = (await api.update(merged(current, body))) as AnyObject;
    if (isApart && status !== undefined && !isContained(current, { status })) {
      await api.subresource('status').update(name, merged(current, { status }));
    }
  }
}

/** The object with a merge patch applied. */
function merged(object: AnyObject, patch: Readonly<Record<string, unknown>>): AnyObject {
  return mergeInOrder({ ...object }, patch) as unknown as AnyObject;
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
      throw new TypeError(`orchplane: the stage ${name} of ${kind.kind} is followed by ${next}, which there is not`);
    }
  }
}
