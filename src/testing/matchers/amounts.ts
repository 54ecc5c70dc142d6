/**
 * Which fields hold amounts, where `1000m` is `1`. Of a built-in kind its schema says so. Of anything else only the names
 * of the fields are known, and they have to stand where amounts stand: a label or a key of `data` may have any name.
 */
import type { Structural } from '../../schema/structural.js';
import { type Diffable, schemaFor, schemaOf } from '../diff-objects.js';

/** Where a value stands, as far as that tells whether it is an amount. */
export type AmountPlace =
  | { readonly by: 'schema'; readonly node: Structural | undefined }
  | { readonly by: 'names'; readonly names: readonly string[] };

/** Of a whole object; the first of these that says of which kind it is counts. */
export function amountsOf(...objects: readonly Diffable[]): AmountPlace {
  const node = schemaFor(undefined, objects);
  return node === undefined ? { by: 'names', names: [] } : { by: 'schema', node };
}

/** Of the field `name`. */
export function fieldAmounts(place: AmountPlace, name: string): AmountPlace {
  if (place.by === 'names') return { by: 'names', names: [...place.names, name] };
  return { by: 'schema', node: schemaOf(place.node, name) };
}

/** Of each item of a list. */
export function itemAmounts(place: AmountPlace): AmountPlace {
  if (place.by === 'names') return place;
  return { by: 'schema', node: place.node?.type === 'list' ? place.node.items : undefined };
}

export function isAmount(place: AmountPlace): boolean {
  if (place.by === 'schema') return place.node?.type === 'scalar' && place.node.scalar === 'quantity';
  const { names } = place;
  return !names.some((name) => FREE_TEXTS.has(name)) && AMOUNT.test(names.join('\n'));
}

/** Everything below is whatever its writer likes. */
const FREE_TEXTS: ReadonlySet<string> = new Set([
  'data',
  'stringData',
  'binaryData',
  'labels',
  'matchLabels',
  'annotations',
]);

/** The end of a path, a name in each line. What is received may be just the resources of a container. */
const AMOUNT = new RegExp(
  `(?:${[
    '(?:^|\nresources\n|^resources\n)(?:limits|requests)\n[^\n]*',
    '(?:^|\n)(?:spec|status)\n(?:hard|used|capacity|allocatable|overhead)\n[^\n]*',
    '(?:^|\n)spec\nlimits\n(?:max|min|default|defaultRequest|maxLimitRequestRatio)\n[^\n]*',
    '(?:^|\n)(?:allocatedResources|podFixed)\n[^\n]*',
    '(?:^|\n)emptyDir\nsizeLimit',
    '(?:^|\n)resourceFieldRef\ndivisor',
  ].join('|')})$`,
);
