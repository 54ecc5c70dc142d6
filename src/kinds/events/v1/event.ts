/**
 * Event of the events group: the objects of the core group's events under newer names, with stricter rules for what is
 * created here. spec: Event
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid, required } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import type { Verbatim } from '../../../text/go/go-text.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { goTimeString, ZERO_TIME } from '../../../text/time/time.js';
import { copyJson, deepEqual } from '../../../util/json.js';
import { subdomainName } from '../../build-kind.js';
import { CoreEvent, eventColumns, eventProblems, referenceSelectors } from '../../core/v1/event.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { EventSource, ObjectReference } from '../../generated/core-v1.js';
import { type EventBody, type EventBodyInput, eventBody } from '../../generated/events-v1.js';
import type { Kind } from '../../kind.js';

export interface Event extends ObjectBase, EventBody {}
export interface EventInput extends InputBase, EventBodyInput {}

/** The fields of the same meaning, here and in the stored form. */
const RENAMED = [
  ['reportingController', 'reportingComponent'],
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
] as const;

/** To the stored form and back. */
export const eventConversion = { toStored, fromStored };

export const Event: Kind<Event, EventInput, 'Namespaced', never> = anotherVersion(CoreEvent, {
  apiVersion: `${serviceGroup('events')}/v1`,
  body: eventBody,
  columns: eventColumns((object) => {
    const draft = copyJson(object) as unknown as DraftObject;
    toStored(draft);
    return draft as unknown as CoreEvent;
  }),
  ...eventConversion,
  strategy: {
    name: { validate: subdomainName },
    create: { validate },
    update: { steps: ['metadata', 'change'], validate: validateUpdate },
    read: {
      selectableFields: {
        ...referenceSelectors('regarding', (object) => eventOf(object).regarding),
        reason: (object) => eventOf(object).reason ?? '',
        reportingController: (object) => eventOf(object).reportingController ?? '',
        type: (object) => eventOf(object).type ?? '',
      },
    },
  },
});

function toStored(draft: DraftObject): void {
  for (const [here, there] of RENAMED) rename(draft, here, there);
  draft['reportingComponent'] ??= '';
  draft['reportingInstance'] ??= '';
  const series = draft['series'] as { count?: number } | undefined;
  if (series?.count === 0) delete series.count;
}

/** What is empty stands on the wire of one version and not on that of the other. */
function fromStored(draft: DraftObject): void {
  for (const [here, there] of RENAMED) rename(draft, there, here);
  for (const field of ['reportingController', 'reportingInstance']) if (draft[field] === '') delete draft[field];
  const series = draft['series'] as { count?: number } | undefined;
  if (series !== undefined) series.count ??= 0;
}

function rename(draft: DraftObject, from: string, to: string): void {
  if (draft[from] !== undefined) draft[to] = draft[from];
  delete draft[from];
}

function eventOf(object: ApiObject): Event {
  return object as unknown as Event;
}

/** Messages use the names of the stored form, but for the controller. */
export function commonProblems(object: ApiObject): FieldError[] {
  const { regarding, eventTime, reportingController = '', note } = eventOf(object);
  return eventProblems(object, {
    ...eventOf(object),
    involvedObject: regarding,
    hasEventTime: Boolean(eventTime),
    controller: { field: 'reportingController', name: reportingController },
    text: note,
  });
}

function validate(object: ApiObject): readonly FieldError[] {
  const event = eventOf(object);
  const { type: kindOfEvent = '', deprecatedSource: source } = event;
  const problems = [...commonProblems(object), ...seriesProblems(event)];
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

function validateUpdate(next: ApiObject, live: ApiObject): readonly FieldError[] {
  const [now, before] = [eventOf(next), eventOf(live)];
  const ofSeries = deepEqual(now.series, before.series) ? [] : seriesProblems(now);
  const immutable = IMMUTABLE.flatMap(([key, field, show]) =>
    deepEqual(now[key] ?? null, before[key] ?? null) ? [] : [invalid(field, show(now), 'field is immutable')],
  );
  return [...commonProblems(next), ...ofSeries, ...immutable];
}

type Shown = string | number | Verbatim | null;

/** Everything but the series, in the order of the server's messages; the reason is looked at twice. */
const IMMUTABLE: readonly (readonly [keyof Event, string, (event: Event) => Shown])[] = [
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
