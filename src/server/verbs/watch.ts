/**
 * watch: a stream of the changes of a collection. spec: Watch
 *
 * The stream is live when this function returns. Invalid options fail the request; an expired resourceVersion and later failures
 * are the last event of the stream.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { WatchResponse } from '../../protocol/response.js';
import type { Bookmark, ChangeEvent, ServerWatchEvent } from '../../protocol/watch-event.js';
import { CompactedError } from '../../storage/types.js';
import { encodeBase64Text } from '../../util/base64.js';
import { deepFreeze } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ServerContext } from '../context.js';
import { listConverted } from '../converted-list.js';
import { type CheckedWatchOptions, checkWatchOptions } from '../options.js';
import { parseRevisionOption, untilRevision } from '../revision.js';
import { type Selection, selectionOf } from '../selection.js';
import { zeroFields } from '../steps/prepare.js';
import { differsFromStored, toServed } from '../versions.js';
import { ServerWatchStream } from '../watch-stream.js';

export function watch(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<WatchResponse> {
  const options = checkWatchOptions(request.options, context);
  if (request.unacceptable !== undefined) throw request.unacceptable;
  refuseLongSelectors(context, request);
  const selection = selectionOf(request, served, true);
  const text = request.options.resourceVersion ?? '';
  const revision = parseWatchRevision(text);
  const parameters: WatchParameters = { context, request, served, selection, options, revision };
  if (!options.sendInitialEvents) return response(openFromRevision(parameters));
  return chain(waitForRevision(parameters, text), (failedWatch) =>
    response(failedWatch ?? openWithInitialEvents(parameters)),
  );
}

/** A shorter selector is never refused. */
const LONG_SELECTOR = 1_024;
/** Each character needs up to sixty bytes as long as its watch is open. */
const MAX_SELECTOR_CHARACTERS = 4 * 1024 * 1024;

/** Limits the memory for the selectors of all open watches. */
function refuseLongSelectors({ watches }: ServerContext, request: ApiRequest): void {
  let characters = selectorLength(request);
  if (characters <= LONG_SELECTOR) return;
  for (const { request: open } of watches) {
    const length = open === undefined ? 0 : selectorLength(open);
    if (length > LONG_SELECTOR) characters += length;
  }
  if (characters > MAX_SELECTOR_CHARACTERS)
    throw errors.tooManyRequests('the selectors of the open watches are too long, please try again later', 1);
}

function selectorLength({ options: { labelSelector = '', fieldSelector = '' } }: ApiRequest): number {
  return labelSelector.length + fieldSelector.length;
}

interface WatchParameters {
  readonly context: ServerContext;
  readonly request: ApiRequest;
  readonly served: ServedKind;
  readonly selection: Selection;
  readonly options: CheckedWatchOptions;
  /** 0 if the request names none. */
  readonly revision: number;
}

function response(stream: ServerWatchStream): WatchResponse {
  return { type: 'watch', watch: stream, warnings: [] };
}

function parseWatchRevision(text: string): number {
  try {
    return parseRevisionOption(text);
  } catch (error) {
    throw errors.plain(messageOf(error));
  }
}

/** Waits for the requested revision. If it does not arrive in time, the stream contains the error. */
function waitForRevision(parameters: WatchParameters, text: string): MaybePromise<ServerWatchStream | undefined> {
  const { context, request, revision } = parameters;
  const waited = untilRevision(context, revision, { text, signal: request.signal });
  if (waited === undefined) return undefined;
  return (waited as Promise<void>).then(
    () => undefined,
    (error: unknown) => {
      if (StatusError.is(error)) return failedStream(error, parameters);
      if (request.signal?.aborted) return finishedStream([], parameters);
      throw error;
    },
  );
}

/** Events after a revision, without initial events. */
function openFromRevision(parameters: WatchParameters): ServerWatchStream {
  const { context, revision } = parameters;
  return openStream(parameters, revision === 0 ? context.store.revision : revision, []);
}

/** Initial ADDED events for existing objects, then the bookmark that ends them if it is requested, then changes. */
function openWithInitialEvents(parameters: WatchParameters): ServerWatchStream {
  const { context, request, served, selection, options } = parameters;
  const { range, matches } = selection;
  const query = { storageKey: served.storageKey, ...range, ...(matches === undefined ? {} : { matches }) };
  const { page, items } = selection.canMatch
    ? listConverted(context, request, { served, query })
    : { page: { revision: context.store.revision }, items: [] };
  const initial: ServerWatchEvent[] = items.map(added);
  if (options.markInitialEventsEnd) {
    initial.push({ type: 'BOOKMARK', object: initialEventsEnd(parameters, page.revision) });
  }
  return openStream(parameters, page.revision, initial);
}

function added(object: ApiObject): ChangeEvent {
  return Object.freeze({ type: 'ADDED', object });
}

/** Options that all streams of a cluster share. */
function sharedStreamOptions({ clock, bookmarks, watches, store, warn }: ServerContext) {
  return { clock, bookmarkTicker: bookmarks, watches, journal: store.journal, warn };
}

function openStream(parameters: WatchParameters, after: number, initial: ServerWatchEvent[]): ServerWatchStream {
  const { context, request, served, selection, options } = parameters;
  const { range, canMatch } = selection;
  const matches = canMatch ? selection.matches : () => false;
  try {
    const cursor = context.store.watch({
      storageKey: served.storageKey,
      ...range,
      after,
      ...(matches === undefined ? {} : { matches }),
    });
    const streamOptions = {
      cursor,
      ...sharedStreamOptions(context),
      storageKey: served.storageKey,
      request,
      signal: request.signal,
      timeoutMs: timeoutMs(options, context),
      timeoutIsAwaited: options.timeoutSeconds > 0,
      ...(differsFromStored(served) ? { toServedVersion: (object: ApiObject) => toServed(served, object) } : {}),
      ...(options.allowBookmarks ? { makeBookmark: createBookmarkSource(parameters, after) } : {}),
    };
    return new ServerWatchStream(streamOptions, initial);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    return failedStream(errors.expired(`too old resource version: ${after} (${error.oldest})`), parameters);
  }
}

/** A stream that contains only an error. */
function failedStream({ status }: StatusError, parameters: WatchParameters): ServerWatchStream {
  return finishedStream([{ type: 'ERROR', object: status }], parameters);
}

function finishedStream(initial: ServerWatchEvent[], { context, request }: WatchParameters) {
  return new ServerWatchStream({ ...sharedStreamOptions(context), signal: request.signal }, initial);
}

const MIN_TIMEOUT_SECONDS = 1800;

/** The default timeout is random, so that clients do not all reconnect at once. */
function timeoutMs(options: CheckedWatchOptions, context: ServerContext): number {
  const seconds =
    options.timeoutSeconds > 0 ? options.timeoutSeconds : MIN_TIMEOUT_SECONDS * (1 + context.ids.random());
  return seconds * 1000;
}

/** A bookmark for the current revision, if it is newer than the last one. */
function createBookmarkSource(parameters: WatchParameters, after: number): () => Bookmark | undefined {
  const { context, served } = parameters;
  let last = after;
  return () => {
    const { revision } = context.store;
    if (revision <= last) return undefined;
    last = revision;
    return bookmark(served, revision);
  };
}

function bookmark(served: ServedKind, revision: number, annotations?: Readonly<Record<string, string>>): Bookmark {
  // The bookmark of a custom resource has no empty struct fields.
  if (served.kind.customResourceHandler !== undefined || served.dialect.rules.minimalBookmarks) {
    const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(revision) };
    return Object.freeze({ apiVersion: served.apiVersion, kind: served.gvk.kind, metadata: deepFreeze(metadata) });
  }
  return Object.freeze({
    kind: served.gvk.kind,
    apiVersion: served.apiVersion,
    metadata: Object.freeze({
      resourceVersion: String(revision),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations: Object.freeze(annotations) }),
    }),
    ...emptyBody(served),
  });
}

const emptyBodies = new WeakMap<ServedKind, object>();

/** The bookmark of a built-in kind is an object with zero values. */
function emptyBody(served: ServedKind): object {
  if (served.kind.representation !== 'struct') return {};
  return getOrInsertComputed(emptyBodies, served, () => {
    const { metadata: _metadata, ...fields } = zeroFields(served.schema);
    return deepFreeze(fields);
  });
}

function initialEventsEnd({ context, served }: WatchParameters, revision: number): Bookmark {
  const { dialect } = context;
  const [kind, apiVersion] = [served.kind.names.listKind, served.apiVersion];
  const emptyList =
    served.kind.customResourceHandler === undefined
      ? `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{},"items":null}\n`
      : `{"apiVersion":"${apiVersion}","items":[],"kind":"${kind}"}\n`;
  return bookmark(served, revision, {
    [dialect.systemKey('initial-events-end')]: 'true',
    [dialect.key('initial-events-list-blueprint')]: encodeBase64Text(emptyList),
  });
}
