/**
 * The ConfigMap kind: configuration data as key-value pairs. spec: ConfigMap
 */

import { type FieldError, invalid, keyPath, tooLong } from '../../../meta/field-error.js';
import { byteLength, configMapKeyProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { base64ByteLength } from '../../../util/base64.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type ConfigMapKind, type ConfigMapObject, configMapBase } from '../../generated/core-v1.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { authenticationReconciler } from '../../shared/control-plane/authentication.js';
import { immutableDataProblems } from '../../shared/strategies.js';

export interface ConfigMap extends ConfigMapObject {}

export const ConfigMap: ConfigMapKind<ConfigMap> = defineBuiltIn({
  ...configMapBase,
  names: { shortNames: ['cm'] },
  reconciler: authenticationReconciler,
  columns: [nameColumn, textColumn('Data', 'The number of keys.', keyCount), ageColumn],
  strategy: {
    update: {
      validationOrder: ['metadata', 'update', 'create'],
      validate: (next, live) => immutableDataProblems(next, live, ['data', 'binaryData'], ['data']),
    },
    create: { validate },
  },
});

function keyCount(object: ConfigMap): number {
  const { data = {}, binaryData = {} } = object;
  return Object.keys(data).length + Object.keys(binaryData).length;
}

/** The maximum size of all values together. */
const MAX_BYTES = 1024 * 1024;

function validate(object: ConfigMap): readonly FieldError[] {
  const { data = {}, binaryData = {} } = object;
  const problems: FieldError[] = [];
  for (const key of Object.keys(data)) {
    append(problems, keyProblems('data', key));
    if (Object.hasOwn(binaryData, key)) {
      problems.push(invalid(keyPath('data', key), key, 'duplicate of key present in binaryData'));
    }
  }
  for (const key of Object.keys(binaryData)) append(problems, keyProblems('binaryData', key));
  // The reference server reports this error at an empty path, which prints as `[]`.
  if (isTooLarge(Object.values(data), Object.values(binaryData))) problems.push(tooLong('[]', MAX_BYTES));
  return problems;
}

function keyProblems(map: string, key: string): FieldError[] {
  return configMapKeyProblems(key).map((detail) => invalid(keyPath(map, key), key, detail));
}

function isTooLarge(texts: readonly string[], binaries: readonly string[]): boolean {
  // A UTF-16 code unit takes at most three bytes in UTF-8, so this upper bound avoids counting for most objects.
  let upperBound = 0;
  for (const text of texts) upperBound += text.length * 3;
  for (const binary of binaries) upperBound += binary.length;
  if (upperBound <= MAX_BYTES) return false;
  let total = 0;
  for (const text of texts) total += byteLength(text);
  for (const binary of binaries) total += base64ByteLength(binary);
  return total > MAX_BYTES;
}
