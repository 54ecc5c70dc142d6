/**
 * What is said about types and their fields. The texts are kept in a notation that is short to write and to carry, and
 * are read when a document first asks for their package:
 *
 *     Lease Somebody's hold on something, for a while.
 *      holderIdentity Who holds it.
 *     LeaseSpec,LeaseCandidateSpec
 *      strategy,renewTime The same for several fields of several types.
 *     *
 *      name For types that have nothing better to say.
 *
 * What was said first stands. `*Condition` is said of types with such an ending.
 */
import { descriptions } from './descriptions/index.js';

/** What a type is for. */
export function describeType(group: string, type: string): string | undefined {
  return notesOf(group).types.get(type);
}

/**
 * What a field is for: said of its type, or else of types like it, of all types of its package, or of all types at all.
 * Of users' kinds, whose package has no name, only what every kind has is known.
 */
export function describeField(group: string, type: string, field: string): string | undefined {
  if (group === '') return COMMON_FIELDS.includes(field) ? notesOf('meta').fields.get(`* ${field}`) : undefined;
  for (const where of [group, 'meta']) {
    const { fields } = notesOf(where);
    const kinds = where === group ? [type] : [];
    if (type.endsWith('Condition')) kinds.push('*Condition');
    for (const kind of [...kinds, '*']) {
      const text = fields.get(`${kind} ${field}`);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}

const COMMON_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata'];

interface Notes {
  readonly types: ReadonlyMap<string, string>;
  /** By type and field, with a space between. */
  readonly fields: ReadonlyMap<string, string>;
}

const known = new Map<string, Notes>();

function notesOf(group: string): Notes {
  let notes = known.get(group);
  if (notes === undefined) {
    notes = readNotes(descriptions[group] ?? []);
    known.set(group, notes);
  }
  return notes;
}

/** Reads the notation above. */
export function readNotes(texts: readonly string[]): Notes {
  const types = new Map<string, string>();
  const fields = new Map<string, string>();
  let current: readonly string[] = [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    if (line === '') continue;
    const isField = line.startsWith(' ');
    const [names = '', ...words] = line.trim().split(' ');
    const text = words.join(' ');
    if (!isField) current = names.split(',');
    for (const type of current) {
      if (isField) for (const field of names.split(',')) noteFirst(fields, `${type} ${field}`, text);
      else if (text !== '') noteFirst(types, type, text);
    }
  }
  return { types, fields };
}

function noteFirst(notes: Map<string, string>, key: string, text: string): void {
  if (!notes.has(key)) notes.set(key, text);
}
