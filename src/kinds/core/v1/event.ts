/**
 * Event of the core group: something that happened to an object. Events are stored in this form; the events group shows
 * the same objects with other names of fields (`events/v1/event.ts`). spec: Event
 */
import * as z from 'zod';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid, required } from '../../../meta/field-error.js';
import { byteLength, dnsSubdomainProblems, qualifiedNameProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { always, hint, int32, microTime, optional, pointer, timeOrNull } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import type { CellContext, Column } from '../../columns.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { nameColumn, since, textColumn } from '../../shared/common-columns.js';
import { type ObjectReference, objectReference } from '../../shared/types.js';

const eventSourceShape = () => ({
  component: optional(z.string()),
  host: optional(z.string()),
});
export interface EventSource extends Output<typeof eventSourceShape> {}
export interface EventSourceInput extends Input<typeof eventSourceShape> {}
export const eventSource: Type<EventSource, EventSourceInput> = type('EventSource', eventSourceShape);

const eventSeriesShape = () => ({
  count: optional(int32()),
  lastObservedTime: microTimeOrNull(),
});
export interface CoreEventSeries extends Output<typeof eventSeriesShape> {}
export interface CoreEventSeriesInput extends Input<typeof eventSeriesShape> {}
const eventSeries: Type<CoreEventSeries, CoreEventSeriesInput> = type('EventSeries', eventSeriesShape);

const shape = () => ({
  involvedObject: objectReference(),
  reason: optional(z.string()),
  message: optional(z.string()),
  source: always(eventSource()),
  firstTimestamp: timeOrNull(),
  lastTimestamp: timeOrNull(),
  count: optional(int32()),
  type: optional(z.string()),
  eventTime: microTimeOrNull(),
  series: pointer(eventSeries()),
  action: optional(z.string()),
  related: pointer(objectReference()),
  reportingComponent: always(z.string()),
  reportingInstance: always(z.string()),
});
export interface CoreEvent extends ObjectBase, Output<typeof shape> {}
export interface CoreEventInput extends InputBase, Input<typeof shape> {}

export const CoreEvent: Kind<CoreEvent, CoreEventInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'Event',
  scope: 'Namespaced',
  names: { shortNames: ['ev'] },
  body: shape,
  columns: eventColumns((object) => object as unknown as CoreEvent),
  strategy: {
    create: { metadata: 'plain', validate: (object) => coreProblems(object) },
    name: {
      // Names made of other objects' names may be anything that fits a URL.
      validate: () => [],
    },
    update: {
      createsAbsent: true,
      // What may change of its metadata is left to the rules for any object.
      steps: ['change'],
      validate: (next) => coreProblems(next),
    },
    read: {
      uncached: true,
      selectableFields: {
        ...referenceSelectors('involvedObject', (object) => eventOf(object).involvedObject),
        reason: (object) => eventOf(object).reason ?? '',
        reportingComponent: (object) => eventOf(object).reportingComponent,
        source: (object) => eventOf(object).source.component || eventOf(object).reportingComponent,
        type: (object) => eventOf(object).type ?? '',
      },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
});

/** A time with microseconds that is null on the wire when it was not given. */
function microTimeOrNull(): z.ZodExactOptional<z.ZodNullable<z.ZodString>> {
  return hint(z.exactOptional(microTime().nullable()), { presence: 'always' });
}

/** Selection by the parts of the object that an event is about. */
export function referenceSelectors(
  name: string,
  reference: (object: ApiObject) => ObjectReference,
): Record<string, (object: ApiObject) => string> {
  const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
  return Object.fromEntries(
    parts.map((part) => [`${name}.${part}`, (object: ApiObject) => reference(object)[part] ?? '']),
  );
}

function eventOf(object: ApiObject): CoreEvent {
  return object as unknown as CoreEvent;
}

function coreProblems(object: ApiObject): FieldError[] {
  const { involvedObject, eventTime, reportingComponent, reportingInstance, action, reason, message } = eventOf(object);
  return eventProblems(object, {
    reportingInstance,
    action,
    reason,
    involvedObject: involvedObject,
    hasEventTime: Boolean(eventTime),
    controller: { field: 'reportingComponent', name: reportingComponent },
    text: message,
  });
}

/** What the rules of both versions look at. */
export interface EventFields {
  readonly involvedObject: ObjectReference;
  /** Whether it has an event time, which only events of the newer kind have. */
  readonly hasEventTime: boolean;
  readonly controller: { readonly field: string; readonly name: string };
  readonly reportingInstance?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
  readonly text?: string | undefined;
}

/** The rules of events in any version; the paths are those of the core group whichever is asked. */
export function eventProblems({ metadata }: ApiObject, facts: EventFields): FieldError[] {
  const namespace = metadata.namespace ?? '';
  const problems = facts.hasEventTime
    ? [...(isAtHome(facts, namespace) ? [] : [strayNamespace(facts)]), ...reportProblems(facts)]
    : fitsNamespace(facts, namespace)
      ? []
      : [strayNamespace(facts)];
  const ofNamespace = dnsSubdomainProblems(namespace).map((detail) => invalid('namespace', namespace, detail));
  return [...problems, ...ofNamespace];
}

function strayNamespace({ involvedObject: about }: EventFields): FieldError {
  return invalid('involvedObject.namespace', about.namespace ?? '', 'does not match event.namespace');
}

/** Events about objects without a namespace go to the default one. */
function fitsNamespace({ involvedObject: about }: EventFields, namespace: string): boolean {
  const { namespace: other = '' } = about;
  return other === '' ? namespace === '' || namespace === 'default' : namespace === other;
}

function isAtHome({ involvedObject: about }: EventFields, namespace: string): boolean {
  return Boolean(about.namespace) || namespace === 'default' || namespace === SYSTEM_NAMESPACE;
}

/** One spelling in both dialects. */
const SYSTEM_NAMESPACE = 'kube-system';

function reportProblems(facts: EventFields): FieldError[] {
  const { controller, reportingInstance = '', action = '', reason = '', text = '' } = facts;
  const { field, name } = controller;
  return [
    ...(name === '' ? [required(field)] : []),
    ...qualifiedNameProblems(name).map((detail) => invalid(field, name, detail)),
    ...neededText('reportingInstance', reportingInstance, 128),
    ...neededText('action', action, 128),
    ...neededText('reason', reason, 128),
    ...textProblems('message', text, 1024),
  ];
}

function neededText(field: string, text: string, max: number): FieldError[] {
  return text === '' ? [required(field)] : textProblems(field, text, max);
}

/** The message shows no value: it would be too long. */
function textProblems(field: string, text: string, max: number): FieldError[] {
  return byteLength(text) > max ? [invalid(field, '', `can have at most ${max} characters`)] : [];
}

/** `read` shows an object in the form of the core group. */
export function eventColumns(read: (object: ApiObject) => CoreEvent): Column[] {
  const text = (name: string, description: string, cell: (event: CoreEvent, context: CellContext) => unknown) =>
    textColumn(name, description, (object, context) => cell(read(object), context));
  const wide = (column: Column): Column => ({ ...column, priority: 1 });
  return [
    text('Last Seen', 'How long ago it happened last.', lastSeen),
    text('Type', 'Whether it is normal or a warning.', ({ type }) => type ?? ''),
    text('Reason', 'Why it was reported, in one word.', ({ reason }) => reason ?? ''),
    text('Object', 'What it happened to.', target),
    wide(
      text(
        'Subobject',
        'Which part of the object it concerns.',
        ({ involvedObject }) => involvedObject.fieldPath ?? '',
      ),
    ),
    wide(text('Source', 'Who reported it.', source)),
    text('Message', 'What happened, in words.', ({ message = '' }) => message.trim()),
    wide(text('First Seen', 'How long ago it happened first.', firstSeen)),
    wide(text('Count', 'How often it happened.', count)),
    wide(nameColumn),
  ];
}

function firstSeen({ firstTimestamp, eventTime }: CoreEvent, context: CellContext): string {
  return since(firstTimestamp || eventTime, context);
}

function lastSeen(event: CoreEvent, context: CellContext): string {
  const { series, lastTimestamp } = event;
  if (series !== undefined) return since(series.lastObservedTime, context);
  return lastTimestamp ? since(lastTimestamp, context) : firstSeen(event, context);
}

/** An event of the newer kind that happened once has no count. */
function count({ series, count: times }: CoreEvent): number {
  return series === undefined ? times || 1 : (series.count ?? 0);
}

function target({ involvedObject }: CoreEvent): string {
  const { kind = '', name = '' } = involvedObject;
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function source(event: CoreEvent): string {
  const component = event.source.component || event.reportingComponent;
  const instance = event.source.host || event.reportingInstance;
  return instance === '' ? component : `${component}, ${instance}`;
}
