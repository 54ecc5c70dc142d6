/**
 * The table of events, the same in both of their versions.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { CellContext, Column } from '../../columns.js';
import { nameColumn, since, textColumn } from '../../shared/workload-columns.js';
import type { CoreEvent } from './event.js';

/** `read` shows an object in the form of the core group. */
export function eventColumns(read: (object: ApiObject) => CoreEvent): Column[] {
  const text = (name: string, description: string, cell: (event: CoreEvent, context: CellContext) => unknown) =>
    textColumn(name, description, (object, context) => cell(read(object), context));
  const wide = (column: Column): Column => ({ ...column, priority: 1 });
  return [
    text('Last Seen', 'The time at which the most recent occurrence of this event was recorded.', lastSeen),
    text(
      'Type',
      'Type of this event (Normal, Warning), new types could be added in the future',
      ({ type }) => type ?? '',
    ),
    text(
      'Reason',
      "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
      ({ reason }) => reason ?? '',
    ),
    text('Object', 'The object that this event is about.', target),
    wide(
      text(
        'Subobject',
        'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
        ({ involvedObject }) => involvedObject.fieldPath ?? '',
      ),
    ),
    wide(
      text('Source', 'The component reporting this event. Should be a short machine understandable string.', source),
    ),
    text('Message', 'A human-readable description of the status of this operation.', ({ message = '' }) =>
      message.trim(),
    ),
    wide(
      text(
        'First Seen',
        'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
        firstSeen,
      ),
    ),
    wide(text('Count', 'The number of times this event has occurred.', count)),
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
