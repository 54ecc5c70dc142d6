/**
 * get: one object by name. list: a collection at one version, whole or in pages. spec: Consistent reads, Chunked lists
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiList, ApiObject } from '../../meta/object.js';
import type { ApiRequest, RequestOptions } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import {
  type ContinueToken,
  ContinueTokenError,
  decodeContinueToken,
  encodeContinueToken,
} from '../../storage/continue-token.js';
import { CompactedError, type ListPage, type ListQuery } from '../../storage/types.js';
import { parseJson } from '../../text/json/parse-json.js';
import { translateError } from '../../util/catch-error.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { metaGroup, type ServerContext } from '../context.js';
import { type ConvertedPage, listConverted } from '../converted-list.js';
import { checkListOptions } from '../options.js';
import { objectResponse } from '../response.js';
import { parseRevisionOption, untilRevision } from '../revision.js';
import { selectionOf } from '../selection.js';
import { requireKeyName } from '../steps/commit.js';
import { ConversionPending, toServed } from '../versions.js';

export function get(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  return chain(untilRequestedRevision(context, request, served), () => readObject(context, request, served));
}

/** Checks the name of a get, and waits until the store has the version that it asks for. */
export function untilRequestedRevision(
  context: ServerContext,
  { name = '', options, signal }: ApiRequest,
  served: ServedKind,
): MaybePromise<void> {
  requireKeyName(name);
  const { resourceVersion: text } = options;
  const { uncached } = served.kind.strategy.read;
  return text ? untilRevision(context, wantedRevision(text, served), { text, signal, uncached }) : undefined;
}

function wantedRevision(text: string, { kind }: ServedKind): number {
  try {
    return parseRevisionOption(text);
  } catch (error) {
    const why = messageOf(error);
    throw kind.strategy.read.uncached ? errors.badRequest(`invalid resource version: ${why}`) : errors.plain(why);
  }
}

function readObject(context: ServerContext, request: ApiRequest, served: ServedKind): ObjectResponse {
  const name = request.name ?? '';
  const namespace = served.namespaced ? (request.namespace ?? '') : '';
  const object = waiting.get(request) ?? context.store.get({ storageKey: served.storageKey, namespace, name });
  if (object === undefined) throw errors.notFound(served.groupResource, name);
  try {
    return objectResponse(200, toServed(served, object));
  } catch (error) {
    if (error instanceof ConversionPending) waiting.set(request, object);
    throw error;
  }
}

/** The object of a get that waits for its conversion: later changes would have to be converted too. */
const waiting = new WeakMap<ApiRequest, ApiObject>();

export function list(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  return chain(readList(context, request, served), (result) => objectResponse(200, result));
}

/** The list object; also what deletecollection works on. */
export function readList(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ApiList> {
  const { options } = request;
  checkListOptions(options, context.dialect);
  if (request.unacceptable !== undefined) throw request.unacceptable;
  const selection = selectionOf(request, served);
  const plan = planRead(options, context, { served, isSingle: selection.range.name !== undefined });
  const waited =
    plan.notOlderThan === undefined
      ? undefined
      : untilRevision(context, plan.notOlderThan, {
          text: options.resourceVersion ?? '',
          signal: request.signal,
          // The reference server reads a single object with a limit from its storage.
          uncached: served.kind.strategy.read.uncached || (plan.limit !== undefined && !options.resourceVersionMatch),
        });
  return chain(waited, () => {
    const at = plan.at === undefined ? {} : { at: plan.at };
    const { limit, token } = plan;
    const query: ListQuery = {
      storageKey: served.storageKey,
      ...selection.range,
      ...at,
      ...(token === undefined ? {} : { after: absoluteKey(token.after, served, request) }),
      ...(limit === undefined ? {} : { limit }),
      ...(selection.matches === undefined ? {} : { matches: selection.matches }),
    };
    // A list that cannot match anything still fails if its revision is compacted.
    const parts = { context, served, request, plan };
    return listObject(readPage(selection.canMatch ? query : { ...query, matches: () => false }, parts), parts);
  });
}

/** The revision that a list reads. */
interface ReadPlan {
  /** Exactly this revision; absent: the current one. */
  readonly at?: number;
  /** Wait until the store has reached this one. */
  readonly notOlderThan?: number;
  readonly limit?: number;
  readonly token?: ContinueToken;
}

/** `isSingle`: the selectors name one object, so there are no pages. */
function planRead(
  options: RequestOptions,
  context: ServerContext,
  { served: { kind }, isSingle }: { readonly served: ServedKind; readonly isSingle: boolean },
): ReadPlan {
  const limit = options.limit !== undefined && options.limit > 0 ? { limit: options.limit } : {};
  if (options.continue) return planContinue(options, context, limit);
  const revision = optionRevision(options.resourceVersion);
  if (!options.resourceVersion) return limit;
  // resourceVersion=0: the reference server's watch cache ignores the limit.
  // upstream: apiserver/pkg/storage/cacher/cacher.go computeListLimit
  if (revision === 0) return kind.strategy.read.uncached ? limit : {};
  const exact =
    options.resourceVersionMatch === 'Exact' || (!options.resourceVersionMatch && 'limit' in limit && !isSingle);
  if (!exact) return { ...limit, notOlderThan: revision };
  if (revision > context.store.revision) {
    throw errors.plain('etcdserver: mvcc: required revision is a future revision');
  }
  return { ...limit, at: revision };
}

function optionRevision(text: string | undefined): number {
  try {
    return parseRevisionOption(text);
  } catch (error) {
    throw errors.badRequest(`invalid resource version: ${messageOf(error)}`);
  }
}

function planContinue(options: RequestOptions, context: ServerContext, limit: { limit?: number }): ReadPlan {
  const { clock, continueTokenMs, store } = context;
  const read = () =>
    decodeContinueToken(options.continue ?? '', tokenVersion(context), (json) => parseJson(json).value);
  const token = translateError(ContinueTokenError, read, ({ message }) =>
    errors.badRequest(`invalid continue token: ${message}`),
  );
  if (options.resourceVersion && options.resourceVersion !== '0') {
    throw errors.badRequest('specifying resource version is not allowed when using continue');
  }
  if (token.revision < 0) return { ...limit, token };
  const isOld = token.issuedAt !== undefined && clock.now() - token.issuedAt > continueTokenMs;
  if (isOld || token.revision > store.revision) throw expiredToken(token, tokenVersion(context));
  return { ...limit, token, at: token.revision };
}

function tokenVersion(context: ServerContext): string {
  return `${metaGroup(context.dialect)}/v1`;
}

const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

function expiredToken(token: ContinueToken, version: string): Error {
  return errors.expired(TOKEN_TOO_OLD, encodeContinueToken({ revision: -1, after: token.after }, version));
}

function readPage(query: ListQuery, { context, served, request, plan }: ListParts): ConvertedPage {
  const read = () => listConverted(context, request, { served, query });
  return translateError(CompactedError, read, () =>
    plan.token === undefined
      ? errors.expired('The resourceVersion for the provided list is too old.')
      : expiredToken(plan.token, tokenVersion(context)),
  );
}

interface ListParts {
  readonly context: ServerContext;
  readonly served: ServedKind;
  readonly request: ApiRequest;
  readonly plan: ReadPlan;
}

function listObject({ page, items }: ConvertedPage, parts: ListParts): ApiList {
  const { served } = parts;
  const more = page.nextAfter === undefined ? {} : nextPage(page, page.nextAfter, parts);
  return Object.freeze({
    kind: served.kind.names.listKind,
    apiVersion: served.apiVersion,
    metadata: Object.freeze({ resourceVersion: String(page.revision), ...more }),
    items: Object.freeze(items),
  });
}

/** The continue token for the next page; its revision stays readable while the token is valid. */
function nextPage(
  page: ListPage,
  lastKey: string,
  parts: ListParts,
): { continue: string; remainingItemCount?: number } {
  const { context, served, request, plan } = parts;
  const now = context.clock.now();
  // A client can change its token.
  const issuedAt = Math.min(plan.token?.issuedAt ?? now, now);
  const revision = plan.token !== undefined && plan.token.revision < 0 ? -1 : page.revision;
  if (revision > 0) context.store.hold(served.storageKey, revision, issuedAt + context.continueTokenMs);
  const token = { revision, after: relativeKey(lastKey, served, request), issuedAt };
  return {
    continue: encodeContinueToken(token, tokenVersion(context)),
    ...(page.remaining === undefined ? {} : { remainingItemCount: page.remaining }),
  };
}

/** Keys in tokens are relative to the listed collection. */
function relativeKey(key: string, served: ServedKind, request: ApiRequest): string {
  return served.namespaced && request.namespace ? key.slice(request.namespace.length + 1) : key;
}

function absoluteKey(key: string, served: ServedKind, request: ApiRequest): string {
  return served.namespaced && request.namespace ? `${request.namespace}/${key}` : key;
}
