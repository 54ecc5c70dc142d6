/**
 * Columns that tables of many kinds have: the name, the age, and what a workload's pods are made of.
 */
import { type LabelSelectorObject, labelSelectorFromObject, printLabelSelector } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { humanDuration, timeToMs } from '../../text/time/time.js';
import type { CellContext, Column } from '../columns.js';

/** What a cell shows for nothing. */
export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'What the object is called.',
  cell: ({ metadata }) => metadata.name,
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: 'How long ago the object was made.',
  cell: ({ metadata }, context) => since(metadata.creationTimestamp, context),
};

/** For kinds whose tables say when an object was made, not how old it is. */
export const createdColumn: Column = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was made.',
  cell: ({ metadata }) => metadata.creationTimestamp,
};

/** How long ago that was, in words of a table. */
export function since(time: string | null | undefined, { nowMs }: CellContext): string {
  return time ? humanDuration(nowMs - timeToMs(time)) : UNKNOWN;
}

interface Containers {
  readonly containers?: readonly { readonly name: string; readonly image?: string }[];
}

/** Names and images of the containers in a template. */
export function containerColumns(podSpec: (object: ApiObject) => Containers): Column[] {
  const all = (object: ApiObject) => podSpec(object).containers ?? [];
  return [
    {
      name: 'Containers',
      type: 'string',
      description: 'What the containers are called.',
      priority: 1,
      cell: (object) =>
        all(object)
          .map(({ name }) => name)
          .join(','),
    },
    {
      name: 'Images',
      type: 'string',
      description: 'What the containers run.',
      priority: 1,
      cell: (object) =>
        all(object)
          .map(({ image = '' }) => image)
          .join(','),
    },
  ];
}

/** A selector of pods, as text. */
export function selectorColumn(selector: (object: ApiObject) => LabelSelectorObject | undefined): Column {
  return {
    name: 'Selector',
    type: 'string',
    description: 'The labels of the pods that belong to it.',
    priority: 1,
    cell: (object) => selectorCell(selector(object)),
  };
}

function selectorCell(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return NONE;
  return printLabelSelector(labelSelectorFromObject(selector)) || NONE;
}

/** A column with a whole number. */
export function countColumn(name: string, description: string, cell: (object: ApiObject) => number): Column {
  return { name, type: 'integer', description, cell };
}

/** A column with a text. */
export function textColumn(name: string, description: string, cell: Column['cell']): Column {
  return { name, type: 'string', description, cell };
}

/** `a,b,c + 2 more...` */
export function firstFew(all: readonly string[], most = 3, between = ','): string {
  const shown = all.slice(0, most).join(between);
  return all.length > most ? `${shown} + ${all.length - most} more...` : shown;
}
