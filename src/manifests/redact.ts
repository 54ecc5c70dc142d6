/**
 * Replaces the values of Secrets, so that the objects of a cluster can be passed on.
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';
import { Base64Error, canonicalBase64, decodeBase64Text, encodeBase64Text } from '../util/base64.js';
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
  const { data, stringData } = object as SecretLike;
  return {
    ...withoutCopies(object, dialect),
    ...(isRecord(data) ? { data: replaced(data, (text) => btoa(text)) } : {}),
    ...(isRecord(stringData) ? { stringData: replaced(stringData, (text) => text) } : {}),
  };
}

interface SecretLike {
  readonly data?: unknown;
  readonly stringData?: unknown;
  readonly metadata?: unknown;
}

/** A Secret whose annotations contain no copies of its values, nor of those of `others`, other versions of it. */
export function withoutCopies(secret: object, dialect: Dialect, others: readonly object[] = []): object {
  const { metadata } = secret as SecretLike;
  if (!isRecord(metadata) || !isRecord(metadata['annotations'])) return secret;
  const values = [secret, ...others].flatMap(formsOfValues);
  const lastApplied = dialect.subkey('kubectl', 'last-applied-configuration');
  // The server requires it; the name of a service account is no secret.
  const accountName = dialect.key('service-account.name');
  const annotations = Object.entries(metadata['annotations']).flatMap(([key, value]): [string, unknown][] => {
    if (key === lastApplied) return lastValues(value, dialect).map((text) => [key, text]);
    return [[key, key !== accountName && hasCopy(String(value), values) ? REDACTED : value]];
  });
  return { ...secret, metadata: { ...metadata, annotations: Object.fromEntries(annotations) } };
}

/** The values as they may occur in a text: plain, without white space at the end, as in a JSON string, and in base64. */
function formsOfValues({ data, stringData }: SecretLike): string[] {
  const forms = (text: string): string[] => [text.trimEnd(), JSON.stringify(text.trimEnd()).slice(1, -1)];
  return [
    ...textsIn(data).flatMap((base64) => [base64, ...forms(decodedText(base64))]),
    ...textsIn(stringData).flatMap((text) => [encodeBase64Text(text), ...forms(text)]),
  ];
}

function textsIn(values: unknown): string[] {
  return isRecord(values) ? Object.values(values).filter((value) => typeof value === 'string') : [];
}

/** Empty if it is no base64, which a server would reject. */
function decodedText(base64: string): string {
  return recoverFrom(
    Base64Error,
    () => decodeBase64Text(canonicalBase64(base64)),
    () => '',
  );
}

/** Shorter values, such as numbers, occur in many texts by chance. */
const SHORTEST_COPY = 4;

function hasCopy(text: string, values: readonly string[]): boolean {
  return values.some((value) => (value.length < SHORTEST_COPY ? value !== '' && text === value : text.includes(value)));
}

function replaced(values: Readonly<Record<string, unknown>>, encode: (text: string) => string): object {
  return Object.fromEntries(Object.keys(values).map((key) => [key, encode(PARSED_KEYS[key] ?? REDACTED)]));
}

/** kubectl keeps the whole object in an annotation, its values included. None: it is left out. */
function lastValues(text: unknown, dialect: Dialect): string[] {
  const last: unknown = recoverFrom(
    SyntaxError,
    () => JSON.parse(String(text)),
    () => undefined,
  );
  // An unreadable text may contain the values, too.
  return isRecord(last) ? [`${JSON.stringify(redacted(last, dialect))}\n`] : [];
}
