/**
 * The Secret kind: confidential key-value pairs, with validation rules for the well-known types. spec: Secret
 */

import type { Dialect } from '../../../meta/dialect.js';
import { type FieldError, invalid, keyPath, required, tooLong } from '../../../meta/field-error.js';
import { configMapKeyProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { jsonType } from '../../../schema/decode-scalar.js';
import { parseJson } from '../../../text/json/parse-json.js';
import { append } from '../../../util/arrays.js';
import { base64ByteLength, encodeBase64Text } from '../../../util/base64.js';
import { isRecord, own } from '../../../util/json.js';
import { messageOf } from '../../../util/message-of.js';
import { sortedRecord } from '../../../util/order.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type SecretKind, type SecretObject, secretBase } from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableDataProblems } from '../../shared/strategies.js';
import { keyPairProblem } from './secret-key-pair.js';

export interface Secret extends SecretObject {}

export const Secret: SecretKind<Secret> = defineBuiltIn({
  ...secretBase,
  columns: [
    nameColumn,
    textColumn('Type', 'The type of the secret.', (object) => String(object['type'])),
    textColumn('Data', 'The number of keys.', (object) => Object.keys(object['data'] ?? {}).length),
    ageColumn,
  ],
  strategy: {
    update: { validationOrder: ['metadata', 'update', 'create'], validate: validateUpdate },
    decode: { defaults: mergeStringData },
    create: { validate },
    write: { warnings },
    read: {
      selectableFields: { type: (object) => String(object['type'] ?? '') },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
});

/** Encodes `stringData` into `data`. It is a write-only field that takes precedence over `data`. */
function mergeStringData(draft: Secret): void {
  const { stringData } = draft;
  if (stringData === undefined) return;
  delete draft.stringData;
  const encoded = Object.entries(stringData).map(([key, text]) => [key, encodeBase64Text(text)] as const);
  const merged = new Map([...Object.entries(draft.data ?? {}), ...encoded]);
  draft.data = sortedRecord(merged);
}

/** The maximum size of all values together. */
const MAX_BYTES = 1024 * 1024;

function validate(object: Secret, { dialect }: HookContext): readonly FieldError[] {
  const { data = {}, type } = object;
  const problems: FieldError[] = [];
  let total = 0;
  for (const key of Object.keys(data)) {
    append(
      problems,
      configMapKeyProblems(key).map((detail) => invalid(keyPath('data', key), key, detail)),
    );
    total += base64ByteLength(data[key] ?? '');
  }
  if (total > MAX_BYTES) problems.push(tooLong('data', MAX_BYTES));
  return [...problems, ...typeProblems(type, data, { dialect, annotations: object.metadata.annotations ?? {} })];
}

type Data = Readonly<Record<string, string>>;

function typeProblems(type: string, data: Data, context: { dialect: Dialect; annotations: Data }): FieldError[] {
  const { dialect, annotations } = context;
  switch (type) {
    case dialect.key('service-account-token'): {
      const annotation = dialect.key('service-account.name');
      return own(annotations, annotation) ? [] : [required(keyPath('metadata.annotations', annotation))];
    }
    case dialect.key('dockercfg'):
      return jsonObjectProblems(data, '.dockercfg');
    case dialect.key('dockerconfigjson'):
      return jsonObjectProblems(data, '.dockerconfigjson');
    case dialect.key('basic-auth'): {
      const missing = ['username', 'password'].filter((key) => !Object.hasOwn(data, key));
      return missing.length < 2 ? [] : missing.map((key) => required(keyPath('data', key)));
    }
    case dialect.key('ssh-auth'):
      return own(data, 'ssh-privatekey') ? [] : [required(keyPath('data', 'ssh-privatekey'))];
    case dialect.key('tls'):
      return ['tls.crt', 'tls.key']
        .filter((key) => !Object.hasOwn(data, key))
        .map((key) => required(keyPath('data', key)));
    default:
      return [];
  }
}

function jsonObjectProblems(data: Data, key: string): FieldError[] {
  const field = keyPath('data', key);
  const text = own(data, key);
  if (text === undefined) return [required(field)];
  const problem = jsonObjectProblem(atob(text));
  // Messages never contain the content of a secret.
  return problem === undefined ? [] : [invalid(field, '<secret contents redacted>', problem)];
}

function jsonObjectProblem(bytes: string): string | undefined {
  let value: unknown;
  try {
    ({ value } = parseJson(bytes, { isBinary: true }));
  } catch (error) {
    return messageOf(error);
  }
  if (value === null || isRecord(value)) return undefined;
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;
}

function validateUpdate(next: ApiObject & Secret, live: ApiObject & Secret): readonly FieldError[] {
  const typeChanged = next.type === live.type ? [] : [invalid('type', next.type, 'field is immutable')];
  return [...typeChanged, ...immutableDataProblems(next, live, ['data'])];
}

/** A certificate and key that do not match are stored, with a warning. */
function warnings(object: Secret, _live: Secret | undefined, { dialect }: HookContext): readonly string[] {
  const { data = {}, type } = object;
  if (type !== dialect.key('tls')) return [];
  const textOf = (key: string) => atob(own(data, key) ?? '');
  const problem = keyPairProblem(textOf('tls.crt'), textOf('tls.key'));
  return problem === undefined ? [] : [problem];
}
