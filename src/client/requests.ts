/**
 * Requests that address one object or a subresource of it. They are synchronous where the transport is, and throw; the
 * async methods of `object-client.ts` turn that into promises.
 */

import { Immer } from 'immer';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import { isRecord } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';
import {
  type ApplyOptions,
  applyOptions,
  type EditOptions,
  editOptions,
  type GetOptions,
  getOptions,
  type WriteOptions,
  writeOptions,
} from './options.js';
import { type Patch, patchBody } from './patches.js';

export function sendGet<Stored>(endpoint: Endpoint, name: string, options?: GetOptions): MaybePromise<Stored> {
  const request = endpoint.request('get', getOptions(options), options?.signal);
  request.name = endpoint.checkName(name, 'get');
  return endpoint.send(request);
}

/** `name`: creates a subresource of the named object. */
export function sendCreate<Result>(
  endpoint: Endpoint,
  input: unknown,
  options: WriteOptions | undefined,
  name?: string,
): MaybePromise<Result> {
  const request = endpoint.request('create', writeOptions(endpoint.config.writeOptions, options), options?.signal);
  if (name !== undefined) request.name = endpoint.checkName(name, 'create');
  request.body = valueBody(endpoint.body(input, 'create'));
  return endpoint.send(request);
}

/** The input of an update or an apply, and the name of its object; absent: the name in the input. */
interface NamedChange {
  readonly name?: string;
  readonly input: unknown;
}

function nameOf({ name }: NamedChange, { metadata }: Readonly<Record<string, unknown>>): unknown {
  return name ?? (isRecord(metadata) ? metadata['name'] : undefined);
}

export function sendUpdate<Stored>(
  endpoint: Endpoint,
  change: NamedChange,
  options?: WriteOptions,
): MaybePromise<Stored> {
  const body = endpoint.body(change.input, 'update');
  const request = endpoint.request('update', writeOptions(endpoint.config.writeOptions, options), options?.signal);
  request.name = endpoint.checkName(nameOf(change, body), 'update');
  request.body = valueBody(body);
  return endpoint.send(request);
}

export function sendPatch<Stored>(
  endpoint: Endpoint,
  change: { readonly name: string; readonly patch: Patch<unknown> },
  options?: WriteOptions,
): MaybePromise<Stored> {
  const request = endpoint.request('patch', writeOptions(endpoint.config.writeOptions, options), options?.signal);
  request.name = endpoint.checkName(change.name, 'patch');
  request.body = valueBody(patchBody(change.patch));
  request.patchType = change.patch.type;
  return endpoint.send(request);
}

export function sendApply<Stored>(
  endpoint: Endpoint,
  change: NamedChange,
  options?: ApplyOptions,
): MaybePromise<Stored> {
  const body = endpoint.body(change.input, 'apply');
  const request = endpoint.request('patch', applyOptions(endpoint.config.writeOptions, options), options?.signal);
  request.name = endpoint.checkName(nameOf(change, body), 'apply');
  request.body = valueBody(body);
  request.patchType = 'apply';
  return endpoint.send(request);
}

/** Changes the draft in place. Must be synchronous; its result is ignored. It runs again after a conflict. */
export type Recipe<Object> = (draft: Object) => void;

const DEFAULT_EDIT_ATTEMPTS = 10;

// A separate instance, so that an application's immer settings have no effect. Nothing is frozen: the result is only
// used for the request.
const immer = new Immer({ autoFreeze: false });

/**
 * Applies the recipe to the live object until a write succeeds, at most `attempts` times; then throws the last
 * Conflict. A recipe that changes nothing writes nothing and returns the live object. The endpoints differ only for a
 * subresource that cannot be read.
 */
export async function editObject<Stored, Object>(
  endpoints: { readonly read: Endpoint; readonly write: Endpoint },
  change: { readonly name: string; readonly recipe: Recipe<Object> },
  options?: EditOptions,
): Promise<Stored> {
  const { attempts = DEFAULT_EDIT_ATTEMPTS, ...writing } = editOptions(options);
  const { signal } = writing;
  for (let attempt = 1; ; attempt++) {
    const live = await sendGet<Stored>(endpoints.read, change.name, signal === undefined ? {} : { signal });
    let returned: unknown;
    const next = immer.produce(live, (draft) => {
      returned = change.recipe(draft as Object);
      if (returned instanceof Promise) {
        // What it does with the draft later fails, and must not end the process as an unhandled rejection.
        returned.catch(() => undefined);
        throw new TypeError('orchplane: the recipe of an edit must be synchronous');
      }
    });
    if (next === live) {
      // An arrow function whose body is an assignment returns the assigned value, which is fine; returning an object
      // without touching the draft is a mistake.
      if (isRecord(returned))
        throw new TypeError('orchplane: the recipe of an edit changes its draft; it returned an object instead');
      return live;
    }
    try {
      return await sendUpdate(endpoints.write, { name: change.name, input: next }, writing);
    } catch (error) {
      if (attempt >= attempts || !StatusError.is(error, 'Conflict')) throw error;
    }
  }
}

/** Adds the name to the input: some servers reject a body without one. */
export function withName(input: unknown, name: string): unknown {
  if (!isRecord(input)) return input;
  const metadata = isRecord(input['metadata']) ? (input['metadata'] as Partial<ApiObject['metadata']>) : {};
  return metadata.name === undefined ? { ...input, metadata: { ...metadata, name } } : input;
}
