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
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { type ObjectReference, objectReference } from '../../shared/types.js';
import { eventColumns } from './event-columns.js';

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
    ownMetadata: { create: 'plain' },
    // Names made of other objects' names may be anything that fits a URL.
    nameRule: () => [],
    createOnUpdate: true,
    uncached: true,
    validate: (object) => coreProblems(object),
    // What may change of its metadata is left to the rules for any object.
    updateSteps: ['change'],
    validateUpdate: (next) => coreProblems(next),
    selectableFields: {
      ...referenceSelectors('involvedObject', (object) => eventOf(object).involvedObject),
      reason: (object) => eventOf(object).reason ?? '',
      reportingComponent: (object) => eventOf(object).reportingComponent,
      source: (object) => eventOf(object).source.component || eventOf(object).reportingComponent,
      type: (object) => eventOf(object).type ?? '',
    },
    unknownFieldLabel: (field) => `field label not supported: ${field}`,
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
    about: involvedObject,
    isNew: Boolean(eventTime),
    controller: { field: 'reportingComponent', name: reportingComponent },
    text: message,
  });
}

/** What the rules of both versions look at. */
export interface EventFacts {
  readonly about: ObjectReference;
  /** Whether it has an event time, which only events of the newer kind have. */
  readonly isNew: boolean;
  readonly controller: { readonly field: string; readonly name: string };
  readonly reportingInstance?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
  readonly text?: string | undefined;
}

/** The rules of events in any version; the paths are those of the core group whichever is asked. */
export function eventProblems({ metadata }: ApiObject, facts: EventFacts): FieldError[] {
  const namespace = metadata.namespace ?? '';
  const problems = facts.isNew
    ? [...(isAtHome(facts, namespace) ? [] : [strayNamespace(facts)]), ...reportProblems(facts)]
    : fitsNamespace(facts, namespace)
      ? []
      : [strayNamespace(facts)];
  const ofNamespace = dnsSubdomainProblems(namespace).map((detail) => invalid('namespace', namespace, detail));
  return [...problems, ...ofNamespace];
}

function strayNamespace({ about }: EventFacts): FieldError {
  return invalid('involvedObject.namespace', about.namespace ?? '', 'does not match event.namespace');
}

/** Events about objects without a namespace go to the default one. */
function fitsNamespace({ about }: EventFacts, namespace: string): boolean {
  const { namespace: other = '' } = about;
  return other === '' ? namespace === '' || namespace === 'default' : namespace === other;
}

function isAtHome({ about }: EventFacts, namespace: string): boolean {
  return Boolean(about.namespace) || namespace === 'default' || namespace === SYSTEM_NAMESPACE;
}

/** One spelling in both dialects. */
const SYSTEM_NAMESPACE = 'kube-system';

function reportProblems(facts: EventFacts): FieldError[] {
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
