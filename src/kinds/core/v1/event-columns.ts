/**
 * The table of events, the same in both of their versions.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { CellContext, Column } from '../../columns.js';
import { nameColumn, since, textColumn } from '../../shared/common-columns.js';
import type { CoreEvent } from './event.js';

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
