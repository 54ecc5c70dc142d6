/**
 * ConfigMap: keys and values for programs. spec: ConfigMap
 */
import * as z from 'zod';
import type { FieldError } from '../../../meta/field-error.js';
import { invalid, keyPath, tooLong } from '../../../meta/field-error.js';
import { byteLength, configMapKeyProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { bytes, optional, pointer } from '../../../schema/hints.js';
import type { Input, Output } from '../../../schema/type.js';
import { base64ByteLength } from '../../../util/base64.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableDataProblems } from '../../shared/strategies.js';

const shape = () => ({
  immutable: pointer(z.boolean()),
  data: optional(z.record(z.string(), z.string())),
  binaryData: optional(z.record(z.string(), bytes())),
});

export interface ConfigMap extends ObjectBase, Output<typeof shape> {}
export interface ConfigMapInput extends InputBase, Input<typeof shape> {}

export const ConfigMap: Kind<ConfigMap, ConfigMapInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  scope: 'Namespaced',
  names: { shortNames: ['cm'] },
  columns: [nameColumn, textColumn('Data', 'How many keys there are.', keyCount), ageColumn],
  body: shape,
  strategy: {
    update: {
      steps: ['metadata', 'change', 'whole'],
      validate: (next, live) => immutableDataProblems(next, live, ['data', 'binaryData']),
    },
    create: { validate },
  },
});

function keyCount(object: ApiObject): number {
  const { data = {}, binaryData = {} } = object as unknown as ConfigMap;
  return Object.keys(data).length + Object.keys(binaryData).length;
}

/** All values together. */
const MAX_BYTES = 1024 * 1024;

function validate(object: ApiObject): readonly FieldError[] {
  const { data = {}, binaryData = {} } = object as unknown as ConfigMap;
  const problems: FieldError[] = [];
  for (const key of Object.keys(data)) {
    problems.push(...keyProblems('data', key));
    if (Object.hasOwn(binaryData, key)) {
      problems.push(invalid(keyPath('data', key), key, 'duplicate of key present in binaryData'));
    }
  }
  for (const key of Object.keys(binaryData)) problems.push(...keyProblems('binaryData', key));
  // The reference server reports this one on the object itself, whose path prints as empty brackets.
  if (isTooLarge(Object.values(data), Object.values(binaryData))) problems.push(tooLong('[]', MAX_BYTES));
  return problems;
}

function keyProblems(map: string, key: string): FieldError[] {
  return configMapKeyProblems(key).map((detail) => invalid(keyPath(map, key), key, detail));
}

function isTooLarge(texts: readonly string[], binaries: readonly string[]): boolean {
  // No character takes more than three bytes per unit of length, so most objects need no counting.
  let most = 0;
  for (const text of texts) most += text.length * 3;
  for (const binary of binaries) most += binary.length;
  if (most <= MAX_BYTES) return false;
  let total = 0;
  for (const text of texts) total += byteLength(text);
  for (const binary of binaries) total += base64ByteLength(binary);
  return total > MAX_BYTES;
}
