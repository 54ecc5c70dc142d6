/**
 * The way from client-side to server-side apply. One client, `kubectl`, keeps in an annotation what it last applied on
 * its own; what it still finds as it left it there, it may take over without a fight.
 */
import type { ObjectNode } from '../../schema/structural.js';
import { isRecord, requireJson } from '../../util/json.js';
import { compare } from './compare.js';
import { type Conflict, ConflictError } from './conflict.js';
import { difference, type FieldSet, isEmptySet, NOTHING } from './field-set.js';
import { fieldsOfIntent, IntentError } from './owned-fields.js';

/** The manager that has such a past. */
export const CLIENT_SIDE_APPLIER = 'kubectl';

/** Fields of the annotation's configuration that are live as they stand there. */
export function fieldsLastApplied(
  text: string | undefined,
  live: { readonly apiVersion: string; readonly schema: ObjectNode; readonly value: unknown },
): FieldSet {
  const configuration = text === undefined ? undefined : parse(text);
  if (!isRecord(configuration) || configuration['apiVersion'] !== live.apiVersion) return NOTHING;
  try {
    const fields = fieldsOfIntent(live.schema, configuration);
    const { modified, added, removed } = compare(live.schema, configuration, live.value);
    return difference(difference(difference(fields, modified), added), removed);
  } catch (error) {
    if (error instanceof IntentError) return NOTHING;
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    requireJson(value);
    return value;
  } catch {
    // Whatever stands there, it was not written by that client.
    return undefined;
  }
}

/** What is left of conflicts when some fields may be taken; undefined when nothing is. */
export function conflictsBeside(error: ConflictError, allowed: FieldSet): ConflictError | undefined {
  const left: Conflict[] = [];
  for (const { manager, fields } of error.conflicts) {
    const rest = difference(fields, allowed);
    if (!isEmptySet(rest)) left.push({ manager, fields: rest });
  }
  return left.length === 0 ? undefined : new ConflictError(left);
}
