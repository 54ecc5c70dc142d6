/**
 * The Event kind of the core group, which is the storage version. The `events` group serves the same objects with other
 * field names (`events/v1/event.ts`). spec: Event
 */
import { type FieldError, invalid, required } from '../../../meta/field-error.js';
import { byteLength, dnsSubdomainProblems, pathSegmentProblems, qualifiedNameProblems } from '../../../meta/names.js';
import type { ApiObject, ObjectBase } from '../../../meta/object.js';
import type { CellContext, Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type CoreEventKind,
  type CoreEventObject,
  coreEventBase,
  type ObjectReference,
} from '../../generated/core-v1.js';
import { nameColumn, since, textColumn } from '../../shared/common-columns.js';

export interface CoreEvent extends CoreEventObject {}

export const CoreEvent: CoreEventKind<CoreEvent> = defineBuiltIn({
  ...coreEventBase,
  names: { shortNames: ['ev'] },
  columns: eventColumns((object) => object),
  strategy: {
    delete: { defaultPropagation: 'Unsupported' },
    create: { metadataValidation: 'none', validate: (object) => coreProblems(object) },
    name: {
      // Names derived from other objects' names may be any path segment.
      validate: pathSegmentProblems,
    },
    update: {
      allowCreateOnUpdate: true,
      // Metadata is validated by the general rules only.
      validationOrder: ['update'],
      validate: (next) => coreProblems(next),
    },
    read: {
      uncached: true,
      selectableFields: {
        ...referenceSelectors<CoreEvent>('involvedObject', ({ involvedObject }) => involvedObject),
        reason: (object) => object.reason ?? '',
        reportingComponent: (object) => object.reportingComponent,
        source: (object) => object.source.component || object.reportingComponent,
        type: (object) => object.type ?? '',
      },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
});

/** Field selectors for the fields of an object reference. */
export function referenceSelectors<Object>(
  name: string,
  reference: (object: NoInfer<Object>) => ObjectReference,
): Record<string, (object: Object) => string> {
  const parts = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
  return Object.fromEntries(
    parts.map((part) => [`${name}.${part}`, (object: Object) => reference(object)[part] ?? '']),
  );
}

function coreProblems(object: CoreEvent): FieldError[] {
  const { involvedObject, eventTime, reportingComponent, reportingInstance, action, reason, message } = object;
  return eventProblems(object, {
    reportingInstance,
    action,
    reason,
    involvedObject,
    hasEventTime: Boolean(eventTime),
    controller: { field: 'reportingComponent', name: reportingComponent },
    text: message,
  });
}

/** The fields that validation of both API groups uses. */
export interface EventFields {
  readonly involvedObject: ObjectReference;
  /** Only events of the `events` API have an event time. They have stricter rules. */
  readonly hasEventTime: boolean;
  readonly controller: { readonly field: string; readonly name: string };
  readonly reportingInstance?: string | undefined;
  readonly action?: string | undefined;
  readonly reason?: string | undefined;
  readonly text?: string | undefined;
}

/** Validates an event of either API group. The error paths are always those of the core group. */
export function eventProblems({ metadata }: ObjectBase, fields: EventFields): FieldError[] {
  const namespace = metadata.namespace ?? '';
  const problems = fields.hasEventTime
    ? [...(isNewEventNamespaceValid(fields, namespace) ? [] : [namespaceMismatch(fields)]), ...newEventProblems(fields)]
    : isLegacyNamespaceValid(fields, namespace)
      ? []
      : [namespaceMismatch(fields)];
  const ofNamespace = dnsSubdomainProblems(namespace).map((detail) => invalid('namespace', namespace, detail));
  return [...problems, ...ofNamespace];
}

function namespaceMismatch({ involvedObject }: EventFields): FieldError {
  return invalid('involvedObject.namespace', involvedObject.namespace ?? '', 'does not match event.namespace');
}

/** Events of cluster-scoped objects are in the default namespace. */
function isLegacyNamespaceValid({ involvedObject }: EventFields, namespace: string): boolean {
  const { namespace: other = '' } = involvedObject;
  return other === '' ? namespace === '' || namespace === 'default' : namespace === other;
}

function isNewEventNamespaceValid({ involvedObject }: EventFields, namespace: string): boolean {
  return Boolean(involvedObject.namespace) || namespace === 'default' || namespace === SYSTEM_NAMESPACE;
}

/** Identical in both dialects. */
const SYSTEM_NAMESPACE = 'kube-system';

function newEventProblems(fields: EventFields): FieldError[] {
  const { controller, reportingInstance = '', action = '', reason = '', text = '' } = fields;
  const { field, name } = controller;
  return [
    ...(name === '' ? [required(field)] : []),
    ...qualifiedNameProblems(name).map((detail) => invalid(field, name, detail)),
    ...requiredTextProblems('reportingInstance', reportingInstance, 128),
    ...requiredTextProblems('action', action, 128),
    ...requiredTextProblems('reason', reason, 128),
    ...textProblems('message', text, 1024),
  ];
}

function requiredTextProblems(field: string, text: string, max: number): FieldError[] {
  return text === '' ? [required(field)] : textProblems(field, text, max);
}

/** The reported value is empty, because it would be too long. */
function textProblems(field: string, text: string, max: number): FieldError[] {
  return byteLength(text) > max ? [invalid(field, '', `can have at most ${max} characters`)] : [];
}

/** The table columns of both API groups. `read` converts an object to the core group. */
export function eventColumns<Object = unknown>(
  read: (object: ApiObject & NoInfer<Object>) => CoreEvent,
): Column<Object>[] {
  const text = (name: string, description: string, cell: (event: CoreEvent, context: CellContext) => unknown) =>
    textColumn<Object>(name, description, (object, context) => cell(read(object), context));
  const wide = (column: Column<Object>): Column<Object> => ({ ...column, priority: 1 });
  return [
    text('Last Seen', 'The time since the last occurrence.', lastSeen),
    text('Type', 'The type of the event: normal or warning.', ({ type }) => type ?? ''),
    text('Reason', 'The reason as a short identifier.', ({ reason }) => reason ?? ''),
    text('Object', 'The object that the event is about.', target),
    wide(
      text(
        'Subobject',
        'The field of the object that the event is about.',
        ({ involvedObject }) => involvedObject.fieldPath ?? '',
      ),
    ),
    wide(text('Source', 'The component that reported the event.', source)),
    text('Message', 'The description of the event.', ({ message = '' }) => message.trim()),
    wide(text('First Seen', 'The time since the first occurrence.', firstSeen)),
    wide(text('Count', 'The number of occurrences.', count)),
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

/** Events of the `events` API that occurred once have no count. */
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
