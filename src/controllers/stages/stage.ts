/**
 * The contract of this folder: what a stage is. A stage says which objects it is about, how long they stay as they are,
 * and what becomes of them then. Stages stand in for whatever would act on objects outside of a control plane: a
 * scheduler, a kubelet, a cloud. `stages.ts` carries them out; the other files here are stages that are ready to use.
 */

import type { MergePatchBody } from '../../client/patches.js';
import type { LabelsOption } from '../../client/selectors.js';
import type { InputDraftOf, Kind, ObjectOf } from '../../kinds/kind.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Watching } from '../define-controller.js';
import type { ControllerContext } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import type { AnyObject } from '../runtime/owners.js';
import { compileSelector } from './selector.js';

export interface StageRule<AnyKind extends Kind> {
  /** For messages, and for `next` of others. */
  readonly name: string;
  readonly kind: AnyKind;
  /** Which objects; all that are not being deleted unless given. */
  readonly when?: StageSelector | ((object: ObjectOf<AnyKind>, context: StageContext) => boolean) | undefined;
  /** How long after an object has come to be such; at once unless given. A range is drawn from by chance. */
  readonly after?: Delay | ((object: ObjectOf<AnyKind>, context: StageContext) => Delay) | undefined;
  /**
   * Of the stages that an object matches, the first counts. If that has a weight, one of all that match and have one is
   * drawn, in proportion to their weights.
   */
  readonly weight?: number | undefined;
  /** What to change, as a merge patch: `status` goes to the status of kinds that have it apart. */
  readonly set?:
    | Changes<AnyKind>
    | ((object: ObjectOf<AnyKind>, context: StageContext) => Changes<AnyKind> | undefined)
    | undefined;
  /** What cannot be said as a change: a binding, another object. Comes before `set`. */
  readonly run?: ((object: ObjectOf<AnyKind>, context: StageContext) => Promise<void>) | undefined;
  /** Deletes the object, without any further grace. Comes last. */
  readonly delete?: boolean | undefined;
  /** An Event about the object. */
  readonly event?: StageEvent | ((object: ObjectOf<AnyKind>) => StageEvent | undefined) | undefined;
  /** The only stage that may come after this one: by its name, and if it matches. Not remembered across a restore. */
  readonly next?: string | undefined;
  /** Who writes fields, where that is not whoever runs the controllers. */
  readonly fieldManager?: string | undefined;
  /** Other kinds whose changes are a reason to look at objects of this one again; see {@link watching}. */
  readonly watches?: readonly Watching[] | undefined;
  /** Left out where the cluster does not serve the kind; otherwise that is an error. */
  readonly optional?: boolean | undefined;
}

/** Milliseconds on the cluster's clock. */
export type Delay = number | { readonly min: number; readonly max: number };

/** Any part of an object; null removes a field, a list replaces the whole list. */
export type Changes<AnyKind extends Kind> = MergePatchBody<InputDraftOf<AnyKind>>;

export interface StageEvent {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** Everything that is given must hold. */
export interface StageSelector {
  readonly namespace?: string | undefined;
  readonly labels?: LabelsOption | undefined;
  /** By key; null: there is none. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
  /** By path (`status.phase`, `spec.nodeName`), compared as text; null: there is none. */
  readonly fields?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** By type; null: there is none. */
  readonly conditions?: Readonly<Record<string, 'True' | 'False' | 'Unknown' | null>> | undefined;
  /** Whether it is being deleted; false unless given. */
  readonly deleting?: boolean | 'either' | undefined;
  /** Finalizers that it has, all of them; an empty list: it has none at all. */
  readonly finalizers?: readonly string[] | undefined;
}

/** What stages have at hand. */
export interface StageContext
  extends Pick<ControllerContext, 'client' | 'clock' | 'dialect' | 'ids' | 'now' | 'serves' | 'informer'> {
  /** The same for everyone who asks with the same key, as long as the controllers run. */
  memory<Value>(key: string, make: () => Value): Value;
}

/** A stage of whatever kind, ready to be carried out. Made by {@link stage}. */
export interface Stage {
  readonly name: string;
  readonly kind: Kind;
  readonly weight: number | undefined;
  readonly next: string | undefined;
  readonly delete: boolean;
  readonly fieldManager: string | undefined;
  readonly watches: readonly Watching[];
  readonly optional: boolean;
  matches(object: AnyObject, context: StageContext): boolean;
  delayOf(object: AnyObject, context: StageContext): number;
  changesTo(object: AnyObject, context: StageContext): Readonly<Record<string, unknown>> | undefined;
  run(object: AnyObject, context: StageContext): Promise<void>;
  eventOf(object: AnyObject): StageEvent | undefined;
}

/**
 * A stage from its rule: typed by the kind that it is about.
 *
 * @example
 * stage({
 *   name: 'released', kind: Namespace, after: { min: 1_000, max: 5_000 },
 *   when: { labels: { stage: 'waiting' } }, set: { metadata: { labels: { stage: 'released' } } },
 * });
 */
export function stage<AnyKind extends Kind>(rule: StageRule<AnyKind>): Stage {
  checkRule(rule);
  const { when = {}, after = 0, set, run, event } = rule;
  // Objects come from an informer of the rule's own kind.
  const typed = (object: AnyObject) => object as unknown as ObjectOf<AnyKind>;
  return {
    name: rule.name,
    kind: rule.kind,
    weight: rule.weight,
    next: rule.next,
    delete: rule.delete ?? false,
    fieldManager: rule.fieldManager,
    watches: rule.watches ?? [],
    optional: rule.optional ?? false,
    matches: typeof when === 'function' ? (object, context) => when(typed(object), context) : compileSelector(when),
    delayOf: (object, context) => {
      const delay = typeof after === 'function' ? after(typed(object), context) : after;
      if (typeof delay === 'number') return delay;
      return delay.min + (delay.max - delay.min) * context.ids.random();
    },
    changesTo: (object, context) =>
      (typeof set === 'function' ? set(typed(object), context) : set) as Record<string, unknown> | undefined,
    run: async (object, context) => run?.(typed(object), context),
    eventOf: (object) => (typeof event === 'function' ? event(typed(object)) : event),
  };
}

const SELECTOR = [
  'namespace',
  'labels',
  'annotations',
  'fields',
  'conditions',
  'deleting',
  'finalizers',
] as const satisfies readonly (keyof StageSelector)[];

/** A word that is misspelt would otherwise hold for every object. */
function checkRule(rule: StageRule<Kind>): void {
  const { name, when, after, set, run, event } = rule;
  const wrong = (what: string) => new TypeError(`orchplane: the stage ${String(name)} ${what}`);
  if (typeof name !== 'string' || name === '') throw new TypeError('orchplane: a stage has a name');
  if (when !== undefined && typeof when !== 'function')
    refuseUnknownOptions(`when of the stage ${name}`, when, SELECTOR);
  if (typeof after === 'object' && !(after.min >= 0 && after.min <= after.max)) {
    throw wrong(`waits for a time from min to max, not from ${after.min} to ${after.max}`);
  }
  if (typeof after === 'number' && !(after >= 0)) throw wrong(`cannot wait for ${after} ms`);
  if (set === undefined && run === undefined && event === undefined && rule.delete !== true) {
    throw wrong('does nothing: it needs set, run, event or delete');
  }
}
