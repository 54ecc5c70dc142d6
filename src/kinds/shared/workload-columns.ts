/**
 * Columns that tables of many kinds have: the name, the age, and what a workload's pods are made of.
 */
import { orchDialect } from '../../meta/dialect.js';
import { type LabelSelectorObject, labelSelectorFromObject, printLabelSelector } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { humanDuration, timeToMs } from '../../meta/time.js';
import type { CellContext, Column } from '../columns.js';

/** What a cell shows for nothing. */
export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

/** Where the service's documentation speaks of something, in canonical names like everything that a kind declares. */
export function docs(page: string): string {
  return `https://${orchDialect.key(`docs/${page}`)}`;
}

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: `Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: ${docs('concepts/overview/working-with-objects/names#names')}`,
  cell: ({ metadata }) => metadata.name,
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: `CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.${orchDialect.systemKey('community/contributors/devel/sig-architecture/api-conventions.md#metadata')}`,
  cell: ({ metadata }, context) => since(metadata.creationTimestamp, context),
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
      description: 'Names of each container in the template.',
      priority: 1,
      cell: (object) =>
        all(object)
          .map(({ name }) => name)
          .join(','),
    },
    {
      name: 'Images',
      type: 'string',
      description: 'Images referenced by each container in the template.',
      priority: 1,
      cell: (object) =>
        all(object)
          .map(({ image = '' }) => image)
          .join(','),
    },
  ];
}

/** A selector of pods, as text. */
export function selectorColumn(
  description: string,
  selector: (object: ApiObject) => LabelSelectorObject | undefined,
): Column {
  return {
    name: 'Selector',
    type: 'string',
    description,
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
