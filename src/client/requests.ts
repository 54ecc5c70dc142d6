/**
 * The requests that address one object, or a subresource of it, as functions of where they go. They answer at once
 * where the transport does, and throw; the async methods around them turn that into promises.
 */

import { Immer } from 'immer';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import { isRecord } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { Endpoint } from './endpoint.js';
import type { ApplyOptions, EditOptions, GetOptions, WriteOptions } from './options.js';
import { applyOptions, getOptions, writeOptions } from './options.js';
import type { Patch } from './patches.js';
import { patchBody } from './patches.js';

const EDIT_ATTEMPTS = 10;

// Of our own, so that an application's settings of immer do not reach in here. Nothing is frozen: the result goes into
// a request and is dropped.
const immer = new Immer({ autoFreeze: false });

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

/** Changes the draft in place. Must be synchronous; what it returns is ignored. Runs again after a lost race. */
export type Recipe<Object> = (draft: Object) => void;

/** The two requests of an edit. `write` must fail with Conflict when the object has changed since `read`. */
interface EditSteps<Stored> {
  read(): Promise<Stored>;
  write(next: Stored): Promise<Stored>;
}

/**
 * Applies the recipe to the live object until a write succeeds, at most `attempts` times; then the last Conflict is
 * thrown. A recipe that changes nothing writes nothing and gives the live object.
 */
async function edit<Stored, Object>(
  steps: EditSteps<Stored>,
  recipe: Recipe<Object>,
  attempts: number = EDIT_ATTEMPTS,
): Promise<Stored> {
  for (let attempt = 1; ; attempt++) {
    const live = await steps.read();
    let returned: unknown;
    const next = immer.produce(live, (draft) => {
      returned = recipe(draft as Object);
      if (returned instanceof Promise) throw new TypeError('orchplane: the recipe of an edit must be synchronous');
    });
    if (next === live) {
      // An assignment as the body of an arrow function returns its value; a whole object with an untouched draft is a
      // misunderstanding.
      if (isRecord(returned))
        throw new TypeError('orchplane: the recipe of an edit changes its draft; it returned an object instead');
      return live;
    }
    try {
      return await steps.write(next);
    } catch (error) {
      if (attempt >= attempts || !StatusError.is(error, 'Conflict')) throw error;
    }
  }
}
