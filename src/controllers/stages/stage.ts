/**
 * The contract of this folder. A stage selects objects, waits for a delay and then changes them. Stages simulate what acts
 * on objects outside of a control plane: a scheduler, kubelets, a cloud provider. `stages.ts` runs them; the other files
 * contain built-in stages.
 */

import type { MergePatchBody } from '../../client/patches.js';
import type { LabelsOption } from '../../client/selectors.js';
import { labelSelectorText } from '../../client/selectors.js';
import type { InputDraftOf, Kind, ObjectOf } from '../../kinds/kind.js';
import { everything, matchesLabels, parseLabelSelector } from '../../meta/labels.js';
import { isRecord, own } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { WatchSource } from '../define-controller.js';
import type { ControllerContext } from '../runtime/controller.js';
import type { EventDetails, EventType } from '../runtime/events.js';
import type { AnyObject } from '../runtime/owners.js';

export interface StageRule<AnyKind extends Kind> {
  /** For messages, and for `next` of other stages. */
  readonly name: string;
  readonly kind: AnyKind;
  /** The objects to change; all that are not being deleted unless given. */
  readonly when?: StageSelector | ((object: ObjectOf<AnyKind>, context: StageContext) => boolean) | undefined;
  /** The delay after an object starts to match; 0 unless given. A value is drawn at random from a range. */
  readonly after?: Delay | ((object: ObjectOf<AnyKind>, context: StageContext) => Delay) | undefined;
  /**
   * Of the stages that an object matches, the first one is used. If that one has a weight, one of all matching stages with a
   * weight is drawn at random, in proportion to their weights.
   */
  readonly weight?: number | undefined;
  /** The change as a merge patch; `status` is written through the status subresource if the kind has one. */
  readonly set?:
    | Changes<AnyKind>
    | ((object: ObjectOf<AnyKind>, context: StageContext) => Changes<AnyKind> | undefined)
    | undefined;
  /** For actions that a patch cannot express: a binding, another object. Runs before `set`. */
  readonly run?: ((object: ObjectOf<AnyKind>, context: StageContext) => Promise<void>) | undefined;
  /** Deletes the object without grace period. Runs last. */
  readonly delete?: boolean | undefined;
  /** Records Events about the object, after `set`. A function gets the object as it was before `set`. */
  readonly event?:
    | StageEvent
    | readonly StageEvent[]
    | ((object: ObjectOf<AnyKind>, context: StageContext) => StageEvent | readonly StageEvent[] | undefined)
    | undefined;
  /** The name of the only stage that may follow this one, if it matches. Not remembered across a restore. */
  readonly next?: string | undefined;
  /** The field manager of the writes; that of the controller unless given. */
  readonly fieldManager?: string | undefined;
  /** Other kinds whose changes queue objects of this kind; see {@link watching}. */
  readonly watches?: readonly WatchSource[] | undefined;
  /** True: the stage is left out if the kind is not served. Otherwise that is an error. */
  readonly optional?: boolean | undefined;
}

/** Milliseconds on the cluster's clock. */
export type Delay = number | { readonly min: number; readonly max: number };

/** Any part of an object; null removes a field, a list replaces the whole list. */
export type Changes<AnyKind extends Kind> = MergePatchBody<InputDraftOf<AnyKind>>;

/** An Event. The details name the simulated component; without them the controller is the source. */
export interface StageEvent extends Omit<EventDetails, 'fieldManager'> {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

/** All given conditions must hold. */
export interface StageSelector {
  readonly namespace?: string | undefined;
  readonly labels?: LabelsOption | undefined;
  /** By key; null: the annotation is absent. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
  /** By path (`status.phase`, `spec.nodeName`), compared as text; null: the field is absent. */
  readonly fields?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** Statuses by condition type; null: the condition is absent. */
  readonly conditions?: Readonly<Record<string, 'True' | 'False' | 'Unknown' | null>> | undefined;
  /** Whether the object is being deleted; false unless given. */
  readonly deleting?: boolean | 'either' | undefined;
  /** Finalizers that must all be present; an empty list: the object has none. */
  readonly finalizers?: readonly string[] | undefined;
}

/** What stages may use. */
export interface StageContext
  extends Pick<ControllerContext, 'client' | 'clock' | 'dialect' | 'ids' | 'now' | 'serves' | 'informer'> {
  /** Returns the value for a key and creates it on first use. Shared by all stages of a run. */
  memory<Value>(key: string, create: () => Value): Value;
  /** Records an Event about an object, for stages with `run`. Does nothing if Events are switched off. */
  record(object: AnyObject, event: StageEvent): void;
}

/** A stage of any kind. Made by {@link stage}. */
export interface Stage {
  readonly name: string;
  readonly kind: Kind;
  readonly weight: number | undefined;
  readonly next: string | undefined;
  readonly delete: boolean;
  /** The stage only records Events, so that the object does not change. */
  readonly isEventOnly: boolean;
  readonly fieldManager: string | undefined;
  readonly watches: readonly WatchSource[];
  readonly optional: boolean;
  matches(object: AnyObject, context: StageContext): boolean;
  delayOf(object: AnyObject, context: StageContext): number;
  changesTo(object: AnyObject, context: StageContext): Readonly<Record<string, unknown>> | undefined;
  run(object: AnyObject, context: StageContext): Promise<void>;
  eventsOf(object: AnyObject, context: StageContext): readonly StageEvent[];
}

/**
 * Creates a stage from a rule, typed by its kind.
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
  // Objects come from an informer of the rule's kind.
  const typed = (object: unknown) => object as ObjectOf<AnyKind>;
  return {
    name: rule.name,
    kind: rule.kind,
    weight: rule.weight,
    next: rule.next,
    delete: rule.delete ?? false,
    isEventOnly: set === undefined && run === undefined && rule.delete !== true,
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
    eventsOf: (object, context) => {
      const events = typeof event === 'function' ? event(typed(object), context) : event;
      if (events === undefined) return NO_EVENTS;
      return isList(events) ? events : [events];
    },
  };
}

const NO_EVENTS: readonly StageEvent[] = Object.freeze([]);

/** Unlike Array.isArray, this narrows a read-only list. */
function isList(events: StageEvent | readonly StageEvent[]): events is readonly StageEvent[] {
  return Array.isArray(events);
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

/** Rejects unknown keys: a misspelt selector key would otherwise match every object. */
function checkRule<AnyKind extends Kind>(rule: StageRule<AnyKind>): void {
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

/** Throws BadRequest for invalid labels. */
export function compileSelector(selector: StageSelector): (object: AnyObject) => boolean {
  const { namespace, deleting = false, finalizers, annotations = {}, fields = {}, conditions = {} } = selector;
  const labels = selector.labels === undefined ? everything : parseLabelSelector(labelSelectorText(selector.labels));
  const paths = Object.entries(fields).map(([path, value]) => ({ steps: path.split('.'), value }));
  return (object) => {
    const { metadata } = object;
    if (namespace !== undefined && metadata.namespace !== namespace) return false;
    if (deleting !== 'either' && (metadata.deletionTimestamp !== undefined) !== deleting) return false;
    if (finalizers !== undefined && !hasFinalizers(metadata.finalizers ?? [], finalizers)) return false;
    return (
      matchesLabels(labels, metadata.labels) &&
      Object.entries(annotations).every(([key, value]) => (own(metadata.annotations ?? {}, key) ?? null) === value) &&
      paths.every(({ steps, value }) => isSame(valueAt(object, steps), value)) &&
      Object.entries(conditions).every(([type, status]) => conditionStatus(object, type) === status)
    );
  };
}

function hasFinalizers(present: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0 ? present.length === 0 : wanted.every((name) => present.includes(name));
}

function valueAt(object: unknown, steps: readonly string[]): unknown {
  let value = object;
  for (const step of steps) value = isRecord(value) ? own(value, step) : undefined;
  return value;
}

function isSame(present: unknown, wanted: string | number | boolean | null): boolean {
  if (wanted === null) return present === undefined || present === null || present === '';
  return present !== undefined && present !== null && String(present) === String(wanted);
}

function conditionStatus(object: unknown, type: string): unknown {
  const conditions = valueAt(object, ['status', 'conditions']);
  if (!Array.isArray(conditions)) return null;
  const condition: unknown = conditions.find((each) => isRecord(each) && each['type'] === type);
  return isRecord(condition) ? condition['status'] : null;
}
