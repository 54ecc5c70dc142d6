/**
 * Table columns that many kinds share: name, age, and the containers and selectors of workloads.
 */
import { type LabelSelectorObject, labelSelectorFromObject, printLabelSelector } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { humanDuration, timeToMs } from '../../text/time/time.js';
import type { CellContext, Column } from '../columns.js';

/** Cell values for absent data. */
export const NONE = '<none>';
export const UNKNOWN = '<unknown>';

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object.',
  cell: ({ metadata }) => metadata.name,
};

export const ageColumn: Column = {
  name: 'Age',
  type: 'string',
  description: 'The time since the object was created.',
  cell: ({ metadata }, context) => since(metadata.creationTimestamp, context),
};

/** For kinds whose tables contain the creation time instead of the age. */
export const createdColumn: Column = {
  name: 'Created At',
  type: 'date',
  description: 'The time at which the object was created.',
  cell: ({ metadata }) => metadata.creationTimestamp,
};

/** The time since `time` in short form (`5m`), or `<unknown>` if it is absent. */
export function since(time: string | null | undefined, { nowMs }: CellContext): string {
  return time ? humanDuration(nowMs - timeToMs(time)) : UNKNOWN;
}

interface Containers {
  readonly containers?: readonly { readonly name: string; readonly image?: string }[];
}

/** The names and the images of the containers in a pod template. */
export function containerColumns<Object = unknown>(
  podSpec: (object: ApiObject & NoInfer<Object>) => Containers,
): Column<Object>[] {
  const all = (object: ApiObject & Object) => podSpec(object).containers ?? [];
  return [
    wideColumn('Containers', 'The names of the containers.', (object) =>
      all(object)
        .map(({ name }) => name)
        .join(','),
    ),
    wideColumn('Images', 'The images of the containers.', (object) =>
      all(object)
        .map(({ image = '' }) => image)
        .join(','),
    ),
  ];
}

/** A label selector as text. */
export function selectorColumn<Object = unknown>(
  selector: (object: ApiObject & NoInfer<Object>) => LabelSelectorObject | undefined,
): Column<Object> {
  return wideColumn('Selector', 'The label selector of its pods.', (object) => selectorCell(selector(object)));
}

function selectorCell(selector: LabelSelectorObject | undefined): string {
  if (selector === undefined) return NONE;
  return printLabelSelector(labelSelectorFromObject(selector)) || NONE;
}

/** A column of integers. */
export function countColumn<Object = unknown>(
  name: string,
  description: string,
  cell: (object: ApiObject & NoInfer<Object>) => number,
): Column<Object> {
  return { name, type: 'integer', description, cell };
}

/** A column of texts. */
export function textColumn<Object = unknown>(
  name: string,
  description: string,
  cell: Column<NoInfer<Object>>['cell'],
): Column<Object> {
  return { name, type: 'string', description, cell };
}

/** A column of texts in wide output. */
export function wideColumn<Object = unknown>(...column: Parameters<typeof textColumn<Object>>): Column<Object> {
  return { ...textColumn<Object>(...column), priority: 1 };
}

/** Joins the first items: `a,b,c + 2 more...`. */
export function firstFew(all: readonly string[], max = 3, separator = ','): string {
  const joined = all.slice(0, max).join(separator);
  return all.length > max ? `${joined} + ${all.length - max} more...` : joined;
}
