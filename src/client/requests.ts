/**
 * The requests that address one object, or a subresource of it, as functions of where they go. They answer at once
 * where the transport does, and throw; the async methods around them turn that into promises.
 */
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import { isRecord } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Recipe } from './edit.js';
import { edit } from './edit.js';
import type { Endpoint } from './endpoint.js';
import type { ApplyOptions, EditOptions, GetOptions, WriteOptions } from './options.js';
import type { Patch } from './patches.js';
import { patchBody } from './patches.js';
import { applyOptions, getOptions, writeOptions } from './request-options.js';

export function getObject<Stored>(endpoint: Endpoint, name: string, options?: GetOptions): MaybePromise<Stored> {
  const request = endpoint.request('get', getOptions(options), options?.signal);
  request.name = endpoint.name(name, 'get');
  return endpoint.send(request);
}

export function createObject<Stored>(endpoint: Endpoint, input: unknown, options?: WriteOptions): MaybePromise<Stored> {
  const request = endpoint.request('create', writeOptions(endpoint.connection.writes, options), options?.signal);
  request.body = valueBody(endpoint.body(input, 'create'));
  return endpoint.send(request);
}

/** Creates something below the object of that name. */
export function createBelow<Answer>(
  endpoint: Endpoint,
  about: { readonly name: string; readonly input: unknown },
  options?: WriteOptions,
): MaybePromise<Answer> {
  const request = endpoint.request('create', writeOptions(endpoint.connection.writes, options), options?.signal);
  request.name = endpoint.name(about.name, 'create');
  request.body = valueBody(endpoint.body(about.input, 'create'));
  return endpoint.send(request);
}

/** Replaces the object of that name; absent: of the name that the input carries. */
export function updateObject<Stored>(
  endpoint: Endpoint,
  change: { readonly name?: string; readonly input: unknown },
  options?: WriteOptions,
): MaybePromise<Stored> {
  const body = endpoint.body(change.input, 'update');
  const metadata = body['metadata'];
  const name = change.name ?? (isRecord(metadata) ? metadata['name'] : undefined);
  const request = endpoint.request('update', writeOptions(endpoint.connection.writes, options), options?.signal);
  request.name = endpoint.name(name, 'update');
  request.body = valueBody(body);
  return endpoint.send(request);
}

export function patchObject<Stored>(
  endpoint: Endpoint,
  change: { readonly name: string; readonly patch: Patch<unknown> },
  options?: WriteOptions,
): MaybePromise<Stored> {
  const request = endpoint.request('patch', writeOptions(endpoint.connection.writes, options), options?.signal);
  request.name = endpoint.name(change.name, 'patch');
  request.body = valueBody(patchBody(change.patch));
  request.patchType = change.patch.type;
  return endpoint.send(request);
}

/** Applies a configuration to the object of that name; absent: of the name that it carries. */
export function applyObject<Stored>(
  endpoint: Endpoint,
  change: { readonly name?: string; readonly input: unknown },
  options?: ApplyOptions,
): MaybePromise<Stored> {
  const body = endpoint.body(change.input, 'apply');
  const metadata = body['metadata'];
  const name = change.name ?? (isRecord(metadata) ? metadata['name'] : undefined);
  const request = endpoint.request('patch', applyOptions(endpoint.connection.writes, options), options?.signal);
  request.name = endpoint.name(name, 'apply');
  request.body = valueBody(body);
  request.patchType = 'apply';
  return endpoint.send(request);
}

/** Reads at one place and writes at the other: the same, except for a subresource that can only be written. */
export function editObject<Stored, Object>(
  places: { readonly read: Endpoint; readonly write: Endpoint },
  change: { readonly name: string; readonly recipe: Recipe<Object> },
  options?: EditOptions,
): Promise<Stored> {
  const signal = options?.signal;
  return edit<Stored, Object>(
    {
      read: async () => getObject(places.read, change.name, signal === undefined ? {} : { signal }),
      write: async (next) => updateObject(places.write, { name: change.name, input: next }, options),
    },
    change.recipe,
    options?.attempts,
  );
}

/** The input with a name of its own: a body that names no object is refused by some servers. */
export function named(input: unknown, name: string): unknown {
  if (!isRecord(input)) return input;
  const metadata = isRecord(input['metadata']) ? (input['metadata'] as Partial<ApiObject['metadata']>) : {};
  return metadata.name === undefined ? { ...input, metadata: { ...metadata, name } } : input;
}
