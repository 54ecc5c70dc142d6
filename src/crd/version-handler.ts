/**
 * Handles the objects of one version of a CRD: decoding, pruning, defaulting, validation and conversion as its
 * structural schema says. spec: CustomResourceDefinition
 */

import type {
  CustomResourceHandler,
  CustomValidationOptions,
  CustomValidationResult,
} from '../kinds/custom-resource-handler.js';
import type { ScalePaths } from '../kinds/subresource.js';
import { errors } from '../meta/errors.js';
import type { FieldError, FieldErrorType } from '../meta/field-error.js';
import { invalid, printFieldError } from '../meta/field-error.js';
import type { ApiObject } from '../meta/object.js';
import { decode } from '../schema/decode.js';
import { DecodeError } from '../schema/decode-scalar.js';
import type { JSONSchemaProps } from '../schema/json-schema.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { verbatim } from '../text/go/go-text.js';
import { recoverFrom, translateError } from '../util/catch-error.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import { copyJson, deepEqual, deepFreeze } from '../util/json.js';
import { MAX_STORED_BYTES } from '../util/json-bytes.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { compareText } from '../util/order.js';
import type { Converter } from './conversion.js';
import type { RuleNode } from './rules/compile.js';
import { evaluateRules } from './rules/evaluate.js';
import { OldValueContext } from './rules/old-value-context.js';
import { scaleSpecErrors, scaleStatusErrors } from './scale.js';
import type { StructuralSchema } from './structural-schema.js';
import { applyDefaults, DefaultsTooLargeError, dropNulls, hasDroppedNulls, withDefaults } from './value/defaults.js';
import { coerceEmbeddedResources, embeddedResourceErrors, hasEmbeddedResources } from './value/embedded-resources.js';
import { listTypeErrors } from './value/list-types.js';
import { hasUnknown, pruneUnknown } from './value/prune.js';
import { validateValue } from './value/validate.js';
import { inWireOrder } from './value/wire-order.js';

/** What all versions of one CRD share. */
export interface CrdVersions {
  readonly converter: Converter;
  /** The uid of the CRD. */
  readonly uid: string;
  readonly isTerminating: boolean;
  /** By apiVersion, served or not. */
  readonly handlers: Map<string, VersionHandler>;
  /** The apiVersion of the storage version. */
  readonly storageApiVersion: string;
}

/** The parts of one version that its handler works with. */
export interface VersionSettings {
  readonly apiVersion: string;
  readonly kind: string;
  /** The schema as on the wire. */
  readonly publishedSchema: JSONSchemaProps;
  /** The normalized schema; created when the first object is decoded or read, since most kinds have no objects. */
  readonly schema: () => StructuralSchema;
  /** Decodes `metadata` like that of any object and leaves all other fields as they are. */
  readonly metadataOnlySchema: ObjectNode;
  /** The compiled validation rules; compiled when the first object is validated. */
  readonly rules: () => RuleNode | undefined;
  readonly scale: ScalePaths | undefined;
}

/** The CustomResourceHandler of one version. */
export class VersionHandler implements CustomResourceHandler {
  readonly #settings: VersionSettings;
  readonly #crdVersions: CrdVersions;
  /** Stored objects that already match this schema: pruned, defaulted, without unexpected nulls. */
  readonly #upToDate = new WeakSet<ApiObject>();

  constructor(settings: VersionSettings, crdVersions: CrdVersions) {
    this.#settings = settings;
    this.#crdVersions = crdVersions;
  }

  get mayBeAsynchronous(): boolean {
    return this.#crdVersions.converter.mayBeAsynchronous && this.#crdVersions.handlers.size > 1;
  }

  get definitionUid(): string {
    return this.#crdVersions.uid;
  }

  get isTerminating(): boolean {
    return this.#crdVersions.isTerminating;
  }

  get publishedSchema(): JSONSchemaProps {
    return this.#settings.publishedSchema;
  }

  decode(
    document: ParsedBody,
    { keepsNulls = false }: { readonly keepsNulls?: boolean | undefined } = {},
  ): { readonly value: MutableRecord; readonly findings: readonly string[] } {
    const { metadataOnlySchema, kind } = this.#settings;
    const { value, findings } = decode(metadataOnlySchema, document);
    // Validation rejects it, without defaults.
    if (typeof value['kind'] === 'string' && value['kind'] !== kind) return { value, findings };
    const schema = this.#settings.schema();
    const unknown = pruneUnknown(schema, value, WHOLE_RESOURCE);
    if (!keepsNulls) dropNulls(schema, value);
    const coerced = coerceEmbeddedResources(schema, value);
    if (coerced.error !== undefined) throw new DecodeError(printFieldError(coerced.error));
    const setDefaults = () => applyDefaults(schema, value, MAX_STORED_BYTES);
    translateError(DefaultsTooLargeError, setDefaults, () => errors.plain('etcdserver: request is too large'));
    // The reference server reports unknown metadata fields first, then those of the schema, then those of embedded
    // resources.
    // upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go unstructuredSchemaCoercer.apply
    const found = [...[...unknown].sort(), ...[...coerced.unknown].sort()].map((path) => `unknown field "${path}"`);
    return { value, findings: [...[...findings].sort(duplicatesFirst), ...found] };
  }

  validate(
    next: ApiObject,
    live: ApiObject | undefined,
    { part, metadataErrors, typeErrors }: CustomValidationOptions,
  ): CustomValidationResult {
    const schema = this.#settings.schema();
    const problems = [
      ...(typeErrors.length > 0
        ? typeErrors
        : [
            ...metadataErrors,
            ...(part === 'status' ? this.#statusErrors(next, live) : this.#objectErrors(next, live)),
          ]),
      ...(part === 'status' ? [] : embeddedResourceErrors(schema, next)),
      ...listTypeErrors(schema, next, live),
    ];
    const rules = this.#settings.rules();
    if (rules === undefined) return { errors: problems, warnings: [] };
    if (problems.some(blocksRules)) return { errors: [...problems, RULES_SKIPPED], warnings: [] };
    const oldValues = live === undefined ? OldValueContext.NONE : OldValueContext.forUpdate(schema, next, live);
    const { errors, warnings } = evaluateRules(rules, next, oldValues);
    return { errors: [...problems, ...errors], warnings };
  }

  #objectErrors(next: ApiObject, live: ApiObject | undefined): FieldError[] {
    const { scale } = this.#settings;
    const schema = this.#settings.schema();
    return [
      ...validateValue(schema, next, live === undefined ? {} : { old: live }),
      ...(scale === undefined ? [] : [...scaleSpecErrors(scale, next), ...scaleStatusErrors(scale, next)]),
    ];
  }

  #statusErrors(next: ApiObject, live: ApiObject | undefined): FieldError[] {
    const { scale } = this.#settings;
    const schema = this.#settings.schema();
    const status = schema.properties.get('status');
    const statusErrors =
      status === undefined || next['status'] === undefined
        ? []
        : // An absent status and null are the same in the reference server.
          validateValue(status, next['status'], { base: 'status', old: live && (live['status'] ?? null) });
    return [...statusErrors, ...(scale === undefined ? [] : scaleStatusErrors(scale, next))];
  }

  convertFromStorage(stored: readonly ApiObject[]): MaybePromise<readonly ApiObject[]> {
    const { converter, handlers } = this.#crdVersions;
    const { apiVersion } = this.#settings;
    // First bring every object up to date with the current schema of the version it was stored in.
    const current = stored.map((object) => handlers.get(object.apiVersion)?.bringUpToDate(object) ?? object);
    if (current.every((object) => object.apiVersion === apiVersion)) return current;
    // Then convert to this version. Fields that this version does not specify are pruned; no defaults are applied here.
    return chain(converter.convert(current, apiVersion), (converted) =>
      converted.map((object, index) => (object === current[index] ? object : this.#pruned(object))),
    );
  }

  convertToStorage(object: ApiObject): MaybePromise<ApiObject> {
    const { converter, handlers, storageApiVersion } = this.#crdVersions;
    const handler = handlers.get(storageApiVersion);
    if (handler === undefined || handler === this) {
      // A field that the strategy removed may have a default, and an apply may leave nulls. The next read applies the
      // default and drops the nulls, so the object is not marked as up to date.
      if (this.#isComplete(object)) this.#upToDate.add(object);
      return object;
    }
    return chain(converter.convert([object], storageApiVersion), ([converted]) =>
      handler.#pruned(converted as ApiObject),
    );
  }

  convertUnpruned(object: ApiObject): MaybePromise<ApiObject> {
    const converted = this.#crdVersions.converter.convert([object], this.#settings.apiVersion);
    return chain(converted, ([first]) => first as ApiObject);
  }

  /**
   * A stored object of this version, brought up to date with the current schema (which may have changed since the
   * write).
   */
  bringUpToDate(stored: ApiObject): ApiObject {
    if (this.#upToDate.has(stored)) return stored;
    const schema = this.#settings.schema();
    // Most objects need no change and are not copied.
    if (!hasUnknown(schema, stored, WHOLE_RESOURCE) && !hasEmbeddedResources(schema) && this.#isComplete(stored)) {
      this.#upToDate.add(stored);
      return stored;
    }
    const value = copyJson(stored) as MutableRecord;
    pruneUnknown(schema, value, WHOLE_RESOURCE);
    dropNulls(schema, value);
    coerceEmbeddedResources(schema, value, { dropMalformed: true });
    const filled = this.#withDefaults(value) ?? value;
    if (deepEqual(filled, stored)) {
      this.#upToDate.add(stored);
      return stored;
    }
    return deepFreeze(inWireOrder(filled)) as ApiObject;
  }

  /** Whether it has all defaults, and no nulls that a read drops. */
  #isComplete(object: ApiObject): boolean {
    return this.#withDefaults(object) === object && !hasDroppedNulls(this.#settings.schema(), object);
  }

  /**
   * Undefined if the defaults are too large: an object that was written before they were added to the schema may have room for
   * any number of them. It is read without defaults.
   */
  #withDefaults(object: MutableRecord | ApiObject): MutableRecord | ApiObject | undefined {
    const fill = () => withDefaults(this.#settings.schema(), object, MAX_STORED_BYTES);
    return recoverFrom(DefaultsTooLargeError, fill, () => undefined);
  }

  #pruned(object: ApiObject): ApiObject {
    const schema = this.#settings.schema();
    if (Object.isFrozen(object) && !hasUnknown(schema, object, WHOLE_RESOURCE)) return object;
    const value = copyJson(object) as MutableRecord;
    pruneUnknown(schema, value, WHOLE_RESOURCE);
    return deepFreeze(inWireOrder(value)) as ApiObject;
  }
}

const WHOLE_RESOURCE = { isResource: true };

function duplicatesFirst(left: string, right: string): number {
  const rank = (text: string) => (text.startsWith('duplicate') ? 0 : 1);
  return rank(left) - rank(right) || compareText(left, right);
}

/** Error types that stop the evaluation of validation rules: the rules may not find the fields that they use. */
const RULE_BLOCKING_ERRORS: ReadonlySet<FieldErrorType> = new Set([
  'notSupported',
  'required',
  'tooLong',
  'tooMany',
  'typeInvalid',
]);

function blocksRules({ type }: FieldError): boolean {
  return RULE_BLOCKING_ERRORS.has(type);
}

const RULES_SKIPPED: FieldError = invalid(
  '<nil>',
  verbatim('"null"'),
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);
