/**
 * The options of a delete: from the body if there is one, otherwise from the query.
 */
import { type Dialect, OPTIONS_SCHEME, serviceGroup } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import { BodyError, type TypeMeta } from '../protocol/body.js';
import type { ApiRequest, RequestOptions } from '../protocol/request.js';
import { boolean, int64, list, namedString, objectNode, optional, pointer, string, struct } from '../schema/declare.js';
import { decode } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-scalar.js';
import { quote } from '../text/go/go-text.js';
import { claimedType, malformedBodyMessage, readTypeMeta } from './decode-body.js';

const schema = objectNode('DeleteOptions', {
  kind: optional(string()),
  apiVersion: optional(string()),
  gracePeriodSeconds: pointer(int64()),
  preconditions: pointer(
    struct('Preconditions', { uid: pointer(namedString('types.UID')), resourceVersion: pointer(string()) }),
  ),
  orphanDependents: pointer(boolean()),
  propagationPolicy: pointer(namedString('v1.DeletionPropagation')),
  dryRun: optional(list(string())),
  ignoreStoreReadErrorWithClusterBreakingPotential: pointer(boolean()),
});

/** Throws a 500 without a reason for a malformed body, as the reference server does. */
export function deleteOptionsOf(request: ApiRequest, dialect: Dialect): RequestOptions {
  if (request.body === undefined) return request.options;
  const claimed = readTypeMeta(request.body, errors.plain);
  try {
    const body = nullAsEmpty(request.body.read());
    checkType(claimedType(body.value, errors.plain), dialect);
    return decode(schema, body).value as RequestOptions;
  } catch (error) {
    if (error instanceof BodyError && claimed !== undefined) throw errors.plain(error.message);
    if (error instanceof BodyError) throw errors.plain(malformedBodyMessage(error));
    if (error instanceof DecodeError) throw errors.plain(error.message);
    throw error;
  }
}

function nullAsEmpty(body: { readonly value: unknown }): { readonly value: unknown } {
  return body.value === null ? { value: {} } : body;
}

const KNOWN_OTHERS = [
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'CreateOptions',
  'Status',
  'UpdateOptions',
];

/** Other option kinds are registered but not convertible to DeleteOptions; all other types are not registered. */
function checkType({ kind, apiVersion }: TypeMeta, dialect: Dialect): void {
  if (!kind || kind === 'DeleteOptions') return;
  if (KNOWN_OTHERS.includes(kind)) {
    throw errors.plain(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`);
  }
  const version = quote(apiVersion || `${dialect.group(serviceGroup('meta'))}/v1`);
  throw errors.plain(`no kind ${quote(kind)} is registered for version ${version} in scheme ${quote(OPTIONS_SCHEME)}`);
}
