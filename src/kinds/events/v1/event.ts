/**
 * The Event kind of the events group: the core group's events with other field names, and stricter rules for events
 * that are created here. spec: Event
 */
import { orchDialect } from '../../../meta/dialect.js';
import { type FieldError, invalid, required } from '../../../meta/field-error.js';
import type { DraftObject } from '../../../meta/object.js';
import { quote, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { goTimeString, ZERO_TIME } from '../../../text/time/time.js';
import { deepEqual } from '../../../util/json.js';
import { subdomainNameProblems } from '../../build-kind.js';
import { CoreEvent, eventColumns, eventProblems, referenceSelectors } from '../../core/v1/event.js';
import { anotherVersion } from '../../define-kind.js';
import type { EventSource, ObjectReference } from '../../generated/core-v1.js';
import { type EventKind, type EventObject, eventBase } from '../../generated/events-v1.js';
import { toStorageVersion } from '../../shared/storage-conversion.js';

export interface Event extends EventObject {}

/** Fields with another name in the storage version: [this version, storage version]. */
const RENAMED = [
  ['reportingController', 'reportingComponent'],
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
] as const;

/** Conversion to and from the storage version. */
export const eventConversion = { toStored, fromStored };

export const Event: EventKind<Event> = anotherVersion(CoreEvent, {
  ...eventBase,
  columns: eventColumns((object) => toStorageVersion<CoreEvent>(object, eventConversion, orchDialect)),
  ...eventConversion,
  strategy: {
    delete: { defaultPropagation: 'Unsupported' },
    name: { validate: subdomainNameProblems },
    create: { metadataValidation: 'strict', validate },
    update: { validationOrder: ['metadata', 'update'], validate: validateUpdate },
    read: {
      selectableFields: {
        ...referenceSelectors<Event>('regarding', ({ regarding }) => regarding),
        reason: (object) => object.reason ?? '',
        reportingController: (object) => object.reportingController ?? '',
        type: (object) => object.type ?? '',
      },
    },
  },
});

function toStored(draft: DraftObject): void {
  for (const [here, there] of RENAMED) rename(draft, here, there);
  draft['reportingComponent'] ??= '';
  draft['reportingInstance'] ??= '';
  const { count, ...series } = (draft['series'] ?? {}) as { count?: number };
  if (count === 0) draft['series'] = series;
}

/** This version omits empty fields that the storage version includes, and the other way round. */
function fromStored(draft: DraftObject): void {
  for (const [here, there] of RENAMED) rename(draft, there, here);
  for (const field of ['reportingController', 'reportingInstance']) if (draft[field] === '') delete draft[field];
  const series = draft['series'] as { count?: number } | undefined;
  if (series !== undefined) draft['series'] = { ...series, count: series.count ?? 0 };
}

function rename(draft: DraftObject, from: string, to: string): void {
  if (draft[from] !== undefined) draft[to] = draft[from];
  delete draft[from];
}

/** Validates the fields that both groups have. Messages use the storage version's names, except for the controller. */
export function commonProblems(object: Event): FieldError[] {
  const { regarding, eventTime, reportingController = '', note } = object;
  return eventProblems(object, {
    ...object,
    involvedObject: regarding,
    hasEventTime: Boolean(eventTime),
    controller: { field: 'reportingController', name: reportingController },
    text: note,
  });
}

function validate(event: Event): readonly FieldError[] {
  const { type: kindOfEvent = '', deprecatedSource: source } = event;
  const problems = [...commonProblems(event), ...seriesProblems(event)];
  if (!event.eventTime) problems.push(required('eventTime'));
  if (kindOfEvent !== 'Normal' && kindOfEvent !== 'Warning') {
    problems.push(invalid('type', '', `has invalid value: ${kindOfEvent}`));
  }
  const unset = (field: string) => problems.push(invalid(field, '', 'needs to be unset'));
  if (event.deprecatedFirstTimestamp) unset('firstTimestamp');
  if (event.deprecatedLastTimestamp) unset('lastTimestamp');
  if (event.deprecatedCount) unset('count');
  if (source.component || source.host) unset('source');
  return problems;
}

function seriesProblems({ series }: Event): FieldError[] {
  if (series === undefined) return [];
  return [
    ...(series.count < 2 ? [invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required('series.lastObservedTime')]),
  ];
}

function validateUpdate(next: Event, live: Event): readonly FieldError[] {
  const ofSeries = deepEqual(next.series, live.series) ? [] : seriesProblems(next);
  const immutable = IMMUTABLE.flatMap(([key, field, print]) =>
    deepEqual(next[key] ?? null, live[key] ?? null) ? [] : [invalid(field, print(next), 'field is immutable')],
  );
  return [...commonProblems(next), ...ofSeries, ...immutable];
}

type Printed = string | number | Verbatim | null;

/** All fields except the series, in the order of the reference server's messages, which contain the reason twice. */
const IMMUTABLE: readonly (readonly [keyof Event, string, (event: Event) => Printed])[] = [
  ['regarding', 'involvedObject', ({ regarding }) => referenceDump(regarding)],
  ['reason', 'reason', ({ reason }) => reason ?? ''],
  ['note', 'message', ({ note }) => note ?? ''],
  ['deprecatedSource', 'source', ({ deprecatedSource }) => sourceDump(deprecatedSource)],
  ['deprecatedFirstTimestamp', 'firstTimestamp', (event) => timeDump(event.deprecatedFirstTimestamp)],
  ['deprecatedLastTimestamp', 'lastTimestamp', (event) => timeDump(event.deprecatedLastTimestamp)],
  ['deprecatedCount', 'count', ({ deprecatedCount }) => deprecatedCount ?? 0],
  ['reason', 'reason', ({ reason }) => reason ?? ''],
  ['type', 'type', (event) => event.type ?? ''],
  ['eventTime', 'eventTime', ({ eventTime }) => timeDump(eventTime)],
  ['action', 'action', ({ action }) => action ?? ''],
  ['related', 'related', ({ related }) => (related === undefined ? null : referenceDump(related))],
  ['reportingController', 'reportingController', ({ reportingController }) => reportingController ?? ''],
  ['reportingInstance', 'reportingInstance', ({ reportingInstance }) => reportingInstance ?? ''],
];

function timeDump(time: string | null | undefined): Verbatim {
  return verbatim(goTimeString(time || ZERO_TIME));
}

function sourceDump({ component = '', host = '' }: EventSource): Verbatim {
  return verbatim(`core.EventSource{Component:${quote(component)}, Host:${quote(host)}}`);
}

function referenceDump(reference: ObjectReference): Verbatim {
  const {
    kind = '',
    namespace = '',
    name = '',
    uid = '',
    apiVersion = '',
    resourceVersion = '',
    fieldPath = '',
  } = reference;
  return verbatim(
    `core.ObjectReference{Kind:${quote(kind)}, Namespace:${quote(namespace)}, Name:${quote(name)}, UID:${quote(uid)}, ` +
      `APIVersion:${quote(apiVersion)}, ResourceVersion:${quote(resourceVersion)}, FieldPath:${quote(fieldPath)}}`,
  );
}
