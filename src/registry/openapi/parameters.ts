/**
 * The path and query parameters of requests, and which operations take which parameters.
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
  'With the value All the request runs through every stage, but nothing is stored.',
);
const limit = inQuery('limit', 'integer', 'The maximum number of objects in one response; continue requests the rest.');
const labelSelector = inQuery(
  'labelSelector',
  'string',
  'Restricts the list of returned objects to those whose labels match.',
);
const fieldSelector = inQuery(
  'fieldSelector',
  'string',
  'Restricts the list of returned objects to those whose fields match.',
);
const resourceVersion = inQuery(
  'resourceVersion',
  'string',
  'The version that the response must be at least as new as.',
);
const resourceVersionMatch = inQuery(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is interpreted: Exact or NotOlderThan.',
);
const timeoutSeconds = inQuery('timeoutSeconds', 'integer', 'The maximum duration of the call.');
const sendInitialEvents = inQuery(
  'sendInitialEvents',
  'boolean',
  'The watch begins with the existing objects, followed by a bookmark.',
);
const continuation = inQuery('continue', 'string', 'The token from the previous part of a list, to get the next part.');

export const name: Parameter = { name: 'name', in: 'path', type: 'string', description: 'The name of the object.' };
export const namespace: Parameter = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'The namespace of the object, or of the collection.',
};
export const pretty = inQuery('pretty', 'string', 'With the value true the response is indented.');

/** The parameters that select the objects of a list or of a deletion. */
const selectionParameters: readonly Parameter[] = [
  continuation,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
];

/** The parameters of lists and watches. */
export const listParameters: readonly Parameter[] = [
  inQuery('allowWatchBookmarks', 'boolean', 'The watch may contain bookmarks, which report its progress.'),
  ...selectionParameters,
  inQuery('watch', 'boolean', 'Watch for changes to the described resources and stream them, instead of a list.'),
];

/** The parameters of a get of a custom resource; the reference server lists none for built-in kinds. */
export const readParameters: readonly Parameter[] = [resourceVersion];

/** The parameters of writes. */
export const writeParameters: readonly Parameter[] = [
  dryRun,
  inQuery('fieldManager', 'string', 'The name that managedFields records for the change. Required for apply.'),
  inQuery(
    'fieldValidation',
    'string',
    'How unknown and duplicate fields are handled: Ignore, Warn (the default) or Strict.',
  ),
];

export const patchParameters: readonly Parameter[] = [
  ...writeParameters,
  inQuery('force', 'boolean', 'The apply takes over fields that other managers own.'),
];

export const deleteParameters: readonly Parameter[] = [
  dryRun,
  inQuery(
    'gracePeriodSeconds',
    'integer',
    'Seconds until the object is deleted; 0 deletes at once. Defaults to the value of the kind.',
  ),
  inQuery(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Deletes an object even if it cannot be read from the store. Unsafe.',
  ),
  inQuery(
    'orphanDependents',
    'boolean',
    'Deprecated; use propagationPolicy. Keeps dependents and removes their reference to this owner.',
  ),
  inQuery('propagationPolicy', 'string', 'How dependents are handled: Orphan, Background or Foreground.'),
];

export const deleteCollectionParameters: readonly Parameter[] = [...deleteParameters, ...selectionParameters];
