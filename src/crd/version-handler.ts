/**
 * Handles the objects of one version of a CRD: decoding, pruning, defaulting, validation and conversion as its
 * structural schema says. spec: CustomResourceDefinition
 */

import type { CustomForm, Judgement, JudgementOptions } from '../kinds/custom-resource-handler.js';
import type { ScalePaths } from '../kinds/scale-paths.js';
import type { Dialect } from '../meta/dialect.js';
import type { FieldError, FieldErrorType } from '../meta/field-error.js';
import { invalid, printFieldError } from '../meta/field-error.js';
import type { ApiObject } from '../meta/object.js';
import { decode } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-scalar.js';
import type { JSONSchemaProps } from '../schema/json-schema.js';
import type { ObjectNode } from '../schema/structural.js';
import { verbatim } from '../text/go/go-text.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import { copyJson, deepEqual, deepFreeze } from '../util/json.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { compareText } from '../util/order.js';
import { type Converter, relabelled } from './conversion.js';
import type { RuleNode } from './rules/compile.js';
import { ruleErrors } from './rules/evaluate.js';
import { Before } from './rules/ratcheting.js';
import { scaleSpecErrors, scaleStatusErrors } from './scale.js';
import type { SchemaView } from './schema-view.js';
import { applyDefaults, dropNulls, withDefaults } from './value/defaults.js';
import { coerceEmbedded, embeddedErrors } from './value/embedded-resources.js';
import { listTypeErrors } from './value/list-types.js';
import { pruneUnknown } from './value/prune.js';
import { validateValue } from './value/validate.js';
import { inWireOrder } from './value/wire-order.js';

/** What all versions of one CRD share. */
export interface Family {
  readonly dialect: Dialect;
  readonly converter: Converter;
  readonly isTerminating: boolean;
  /** By apiVersion, served or not. */
  readonly versions: Map<string, VersionForm>;
  /** The apiVersion of the storage version. */
  readonly storage: string;
}

/** The parts of one version that its handler works with. */
export interface VersionParts {
  readonly apiVersion: string;
  readonly schema: SchemaView;
  /** The schema of the envelope: `metadata` and the other fields that every kind has. */
  readonly envelope: ObjectNode;
  /** The compiled validation rules; compiled when the first object is validated. */
  readonly rules: () => RuleNode | undefined;
  readonly scale: ScalePaths | undefined;
}

/** The CustomResourceHandler of one version. */
export class VersionForm implements CustomForm {
  readonly #parts: VersionParts;
  readonly #family: Family;
  /** Stored objects that already match this schema: pruned, defaulted, without unexpected nulls. */
  readonly #fresh = new WeakSet<ApiObject>();

  constructor(parts: VersionParts, family: Family) {
    this.#parts = parts;
    this.#family = family;
  }

  get mayWait(): boolean {
    return this.#family.converter.mayWait && this.#family.versions.size > 1;
  }

  get isTerminating(): boolean {
    return this.#family.isTerminating;
  }

  get published(): JSONSchemaProps {
    return this.#parts.schema.raw;
  }

  decode(document: ParsedBody): { readonly value: MutableRecord; readonly findings: readonly string[] } {
    const { schema, envelope } = this.#parts;
    const { value, findings } = decode(envelope, document);
    const unknown = pruneUnknown(schema, value, RESOURCE);
    dropNulls(schema, value);
    const coerced = coerceEmbedded(schema, value);
    if (coerced.error !== undefined) throw new DecodeError(printFieldError(coerced.error));
    applyDefaults(schema, value);
    // The reference server reports unknown metadata fields first, then those of the schema, then those of embedded
    // resources.
    const found = [...[...unknown].sort(), ...[...coerced.unknown].sort()].map((path) => `unknown field "${path}"`);
    return { value, findings: [...[...findings].sort(duplicatesFirst), ...found] };
  }

  judge(next: ApiObject, live: ApiObject | undefined, { part, sofar }: JudgementOptions): Judgement {
    const problems = part === 'status' ? this.#statusProblems(next, live) : this.#objectProblems(next, live);
    const rules = this.#parts.rules();
    if (rules === undefined) return { problems, warnings: [] };
    if (sofar.some(blocksRules) || problems.some(blocksRules))
      return { problems: [...problems, NOT_ALL], warnings: [] };
    const before = live === undefined ? Before.NOTHING : Before.ofUpdate(this.#parts.schema, next, live);
    const { errors, warnings } = ruleErrors(rules, next, before);
    return { problems: [...problems, ...errors], warnings };
  }

  #objectProblems(next: ApiObject, live: ApiObject | undefined): FieldError[] {
    const { schema, scale } = this.#parts;
    return [
      ...validateValue(schema, next, live === undefined ? {} : { old: live }),
      ...(scale === undefined ? [] : [...scaleSpecErrors(scale, next), ...scaleStatusErrors(scale, next)]),
      ...embeddedErrors(schema, next),
      ...listTypeErrors(schema, next, live),
    ];
  }

  #statusProblems(next: ApiObject, live: ApiObject | undefined): FieldError[] {
    const { schema, scale } = this.#parts;
    const status = schema.properties.get('status');
    const ofStatus =
      status === undefined || next['status'] === undefined
        ? []
        : validateValue(status, next['status'], { base: 'status', old: live?.['status'] });
    return [
      ...ofStatus,
      ...(scale === undefined ? [] : scaleStatusErrors(scale, next)),
      ...listTypeErrors(schema, next, live),
    ];
  }

  show(stored: readonly ApiObject[]): MaybePromise<readonly ApiObject[]> {
    const { converter, versions } = this.#family;
    const { apiVersion } = this.#parts;
    // First bring every object up to date with the current schema of the version it was stored in.
    const current = stored.map((object) => versions.get(object.apiVersion)?.refreshed(object) ?? object);
    if (current.every((object) => object.apiVersion === apiVersion)) return current;
    // Then convert to this version. Fields that this version does not specify are pruned; no defaults are applied here.
    return chain(converter.convert(current, apiVersion), (converted) =>
      converted.map((object, index) => (object === current[index] ? object : this.#pruned(object))),
    );
  }

  store(object: ApiObject): MaybePromise<ApiObject> {
    const { converter, versions, storage } = this.#family;
    const form = versions.get(storage);
    if (form === undefined || form === this) {
      // A field that the strategy removed may have a default; the next read applies it, so the object is not marked as
      // up to date.
      if (withDefaults(this.#parts.schema, object) === object) this.#fresh.add(object);
      return object;
    }
    return chain(converter.convert([object], storage), ([converted]) => form.#pruned(converted as ApiObject));
  }

  relabel(object: ApiObject): ApiObject {
    return relabelled(object, this.#parts.apiVersion);
  }

  /**
   * A stored object of this version, brought up to date with the current schema (which may have changed since the
   * write).
   */
  refreshed(stored: ApiObject): ApiObject {
    if (this.#fresh.has(stored)) return stored;
    const { schema } = this.#parts;
    const value = copyJson(stored) as unknown as MutableRecord;
    pruneUnknown(schema, value, RESOURCE);
    dropNulls(schema, value);
    coerceEmbedded(schema, value, { dropMalformed: true });
    applyDefaults(schema, value);
    if (deepEqual(value, stored)) {
      this.#fresh.add(stored);
      return stored;
    }
    return deepFreeze(inWireOrder(value)) as unknown as ApiObject;
  }

  #pruned(object: ApiObject): ApiObject {
    const value = copyJson(object) as unknown as MutableRecord;
    const isClean = pruneUnknown(this.#parts.schema, value, RESOURCE).length === 0;
    return isClean && Object.isFrozen(object) ? object : (deepFreeze(inWireOrder(value)) as unknown as ApiObject);
  }
}

const RESOURCE = { isResource: true };

function duplicatesFirst(left: string, right: string): number {
  const rank = (text: string) => (text.startsWith('duplicate') ? 0 : 1);
  return rank(left) - rank(right) || compareText(left, right);
}

/** Error types that stop the evaluation of validation rules: the rules may not find the fields that they use. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set([
  'notSupported',
  'required',
  'tooLong',
  'tooMany',
  'typeInvalid',
]);

function blocksRules({ type }: FieldError): boolean {
  return BLOCKING.has(type);
}

const NOT_ALL: FieldError = invalid(
  '<nil>',
  verbatim('"null"'),
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);
