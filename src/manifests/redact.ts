/**
 * Replaces the values of Secrets, so that the objects of a cluster can be passed on.
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';
import { recoverFrom } from '../util/catch-error.js';
import { isRecord } from '../util/json.js';

const REDACTED = 'redacted';

/** Secrets whose values the server parses. */
const PARSED_KEYS: Readonly<Record<string, string>> = { '.dockercfg': '{}', '.dockerconfigjson': '{"auths":{}}' };

/** A Secret with its keys but without its values. Other objects are returned as they are. */
export function redactSecret(object: ApiObject, dialect: Dialect): ApiObject {
  if (object.kind !== 'Secret' || object.apiVersion !== 'v1') return object;
  return redacted(object, dialect) as ApiObject;
}

function redacted(object: object, dialect: Dialect): object {
  const { data, stringData, metadata } = object as Readonly<Record<string, unknown>>;
  return {
    ...object,
    ...(isRecord(metadata) ? { metadata: withoutLastValues(metadata, dialect) } : {}),
    ...(isRecord(data) ? { data: replaced(data, (text) => btoa(text)) } : {}),
    ...(isRecord(stringData) ? { stringData: replaced(stringData, (text) => text) } : {}),
  };
}

function replaced(values: Readonly<Record<string, unknown>>, encode: (text: string) => string): object {
  return Object.fromEntries(Object.keys(values).map((key) => [key, encode(PARSED_KEYS[key] ?? REDACTED)]));
}

/** kubectl keeps the whole object in an annotation, its values included. */
function withoutLastValues(metadata: Readonly<Record<string, unknown>>, dialect: Dialect): object {
  const { annotations } = metadata;
  const lastApplied = dialect.subkey('kubectl', 'last-applied-configuration');
  if (!isRecord(annotations) || typeof annotations[lastApplied] !== 'string') return metadata;
  const { [lastApplied]: text, ...others } = annotations;
  const last: unknown = recoverFrom(
    SyntaxError,
    () => JSON.parse(String(text)),
    () => undefined,
  );
  // An unreadable text may contain the values, too.
  if (!isRecord(last)) return { ...metadata, annotations: others };
  return { ...metadata, annotations: { ...others, [lastApplied]: `${JSON.stringify(redacted(last, dialect))}\n` } };
}
