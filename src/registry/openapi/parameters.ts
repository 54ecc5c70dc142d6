/**
 * What requests may carry in their path and query, and which requests carry what.
 */

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
}

function inQuery(name: string, type: Parameter['type'], description: string): Parameter {
  return { name, in: 'query', type, description };
}

const dryRun = inQuery(
  'dryRun',
  'string',
  'With the value All the request goes through every stage, but nothing is stored.',
);
const limit = inQuery('limit', 'integer', 'At most this many objects in one answer; the rest follows with continue.');
const labelSelector = inQuery('labelSelector', 'string', 'Only objects whose labels match this selector.');
const fieldSelector = inQuery('fieldSelector', 'string', 'Only objects whose fields match this selector.');
const resourceVersion = inQuery('resourceVersion', 'string', 'The version that an answer must be at least as new as.');
const resourceVersionMatch = inQuery(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is meant: Exact, or NotOlderThan.',
);
const timeoutSeconds = inQuery('timeoutSeconds', 'integer', 'How long the call may last, whatever happens in it.');
const sendInitialEvents = inQuery(
  'sendInitialEvents',
  'boolean',
  'A watch begins with the present objects, followed by a bookmark.',
);
const continuation = inQuery('continue', 'string', 'The token of the previous part of a list, to get the next one.');

export const name: Parameter = { name: 'name', in: 'path', type: 'string', description: 'The name of the object.' };
export const namespace: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'The namespace of the object, or of the collection.',
};
export const pretty = inQuery('pretty', 'string', 'With the value true the answer is indented.');

/** Of lists and watches. */
export const listParameters: readonly Parameter[] = [
  inQuery('allowWatchBookmarks', 'boolean', 'A watch may hold bookmarks, which tell how far it has come.'),
  continuation,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
  inQuery('watch', 'boolean', 'Changes as they happen, in place of a list.'),
];

/** Of what reads an object of a user's kind; other kinds do not tell. */
export const readParameters: readonly Parameter[] = [resourceVersion];

/** Of everything that writes an object. */
export const writeParameters: readonly Parameter[] = [
  dryRun,
  inQuery('fieldManager', 'string', 'Who makes the change, as managedFields will record it. An apply must say so.'),
  inQuery(
    'fieldValidation',
    'string',
    'What becomes of unknown and repeated fields: Ignore, Warn (unless said otherwise) or Strict.',
  ),
];

export const patchParameters: readonly Parameter[] = [
  ...writeParameters,
  inQuery('force', 'boolean', 'An apply takes fields over from those who own them.'),
];

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  inQuery('gracePeriodSeconds', 'integer', 'Time to end in seconds; 0 deletes at once. Absent: as the kind has it.'),
  inQuery(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Deletes an object even if it cannot be read from the store. Unsafe.',
  ),
  inQuery('orphanDependents', 'boolean', 'Deprecated; use propagationPolicy. Dependents stay, without this owner.'),
  inQuery('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
];

export const deleteCollectionParameters: readonly Parameter[] = [
  ...deleteParameters,
  continuation,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
];
