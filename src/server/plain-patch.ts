/**
 * A fast path for the most frequent patches: a few scalar values in existing structs. The result is the live object with
 * these values, without merging documents and decoding the result.
 *
 * All other patches take the general path, which also reports errors.
 */
import { mayMutateKind } from '../admission/chain.js';
import { isWrittenByServer } from '../merge/apply/managers.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { plainScalar } from '../schema/decode-scalar.js';
import { type IsShared, thawValue } from '../schema/reuse.js';
import type { ObjectNode, SchemaNode } from '../schema/schema-node.js';
import { isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { reusableParts } from './reusable-parts.js';
import type { WriteOperation } from './write-operation.js';

type Members = Readonly<Record<string, unknown>>;

/** The patched object, or undefined if the patch needs the general path. */
export function patchScalars(live: ApiObject, patch: unknown, write: WriteOperation): DraftObject | undefined {
  const { served, server } = write;
  const { kind, schema } = served;
  if (kind.representation !== 'struct' || served.storageKind !== undefined || !isRecord(patch)) return undefined;
  // Excludes patches of the type, and live objects that were loaded without validation.
  if (Object.hasOwn(patch, 'kind') || Object.hasOwn(patch, 'apiVersion') || server.store.hasUnvalidatedObjects)
    return undefined;
  if (leavesNestedPartsUnchanged(write)) return patchedInPlace(schema, live, patch);
  const isKnown = reusableParts(server, write.request, served);
  const isShared: IsShared = (part, node) => isWrittenByServer(part) || isKnown?.(part, node) === true;
  const draft = patchedStruct(schema, live as unknown as Members, { patch, isShared }) as DraftObject | undefined;
  if (draft !== undefined) kind.strategy.decode.defaults?.(draft, write.hookContext);
  return draft;
}

/** Whether neither the kind nor a plugin changes nested parts of the draft. */
function leavesNestedPartsUnchanged({ served, server, request }: WriteOperation): boolean {
  const { decode, update, write } = served.kind.strategy;
  const changesDraft = decode.defaults ?? update.prepare ?? write.canonicalize ?? write.allocate;
  if (request.subresource !== undefined || changesDraft !== undefined) return false;
  return !server.hasUntrustedPlugins(served) && !mayMutateKind(server.admission.active(), served);
}

/** The live object with the patched values; unchanged parts are shared. */
function patchedInPlace(schema: ObjectNode, live: ApiObject, patch: Members): DraftObject | undefined {
  const draft = patchedStruct(schema, live as unknown as Members, { patch }) as DraftObject | undefined;
  if (draft?.metadata === live.metadata) draft.metadata = { ...live.metadata } as DraftObject['metadata'];
  return draft;
}

/** `isShared` absent: all parts are shared. */
function patchedStruct(
  node: ObjectNode,
  live: Members,
  { patch, isShared }: { readonly patch: Members; readonly isShared?: IsShared },
): MutableRecord | undefined {
  const values: MutableRecord = {};
  for (const name of Object.keys(patch)) {
    const field = node.fields.get(name);
    const given = patch[name];
    if (field === undefined || given === undefined) return undefined;
    const inner = field.node;
    const was = Object.hasOwn(live, name) ? live[name] : undefined;
    let value: unknown;
    if (inner.type === 'scalar') value = plainScalar(inner, given);
    else if (isMerged(inner) && isRecord(given) && isRecord(was)) {
      value = patchedStruct(inner, was, isShared === undefined ? { patch: given } : { patch: given, isShared });
    }
    if (value === undefined) return undefined;
    setOwn(values, name, value);
  }
  const out: MutableRecord = { ...live };
  if (isShared !== undefined) {
    for (const name in live) {
      const value = live[name];
      if (typeof value !== 'object' || Object.hasOwn(values, name)) continue;
      out[name] = thawValue(node.fields.get(name)?.node, value, isShared);
    }
  }
  // Field names of structs come from the schema, so plain assignment is safe.
  for (const name in values) out[name] = values[name];
  return out;
}

/** A struct that patches merge instead of replacing it. */
function isMerged(node: SchemaNode): node is ObjectNode {
  return node.type === 'object' && node.representation === 'struct' && node.patchStrategy === undefined;
}
