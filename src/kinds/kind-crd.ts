/**
 * The parts of a user-defined kind that it shares with a CustomResourceDefinition.
 */
import type { SchemaKeywords } from '../schema/hints.js';
import type {
  CustomResourceConversionInput,
  CustomResourceDefinitionVersionInput,
} from './generated/apiextensions-v1.js';

/** A CEL validation rule, as in a CRD: `self` is the new object, `oldSelf` the live one. */
export interface KindRule {
  /** True for valid objects: `self.spec.min <= self.spec.max`. */
  readonly rule: string;
  readonly message?: string;
  /** Computes the message; `message` is used if the evaluation fails. */
  readonly messageExpression?: string;
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  /** The field that the error names: `.spec.min`. */
  readonly fieldPath?: string;
  /** The rule runs on create too, and `oldSelf` is an optional. */
  readonly optionalOldSelf?: boolean;
}

/** What only the CRD of a kind has: `toCRD` writes it. Only the schema has an effect in a cluster with the kind itself. */
export interface KindCrd {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Columns, selectable fields, and whether the version is served, stored or deprecated. */
  readonly version?: Partial<Omit<CustomResourceDefinitionVersionInput, 'name' | 'schema' | 'subresources'>>;
  /** Of the CRD with all versions; taken from its first kind. */
  readonly conversion?: CustomResourceConversionInput;
  /** Keywords of the schema of the whole object. */
  readonly schema?: SchemaKeywords;
}
