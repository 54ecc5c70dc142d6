/**
 * The contract between the server and custom resources. `crd/` implements it for each CRD version, whose schema may
 * change while the cluster runs.
 */
import type { FieldError } from '../meta/field-error.js';
import type { ApiObject } from '../meta/object.js';
import type { JSONSchemaProps } from '../schema/json-schema.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** Decodes, validates and converts the objects of one CRD version. */
export interface CustomResourceHandler {
  /**
   * Decodes a copy of a document: unknown fields are pruned and reported, null in fields that cannot be null is dropped
   * unless `keepsNulls`, defaults are applied. Throws DecodeError.
   */
  decode(
    document: ParsedBody,
    options?: { readonly keepsNulls?: boolean | undefined },
  ): { readonly value: MutableRecord; readonly findings: readonly string[] };
  /**
   * Validates an object against the schema and the validation rules of the CRD. The result contains the `metadataErrors`,
   * or only the `typeErrors` if there are any. Some of them prevent the evaluation of the rules.
   */
  validate(next: ApiObject, live: ApiObject | undefined, options: CustomValidationOptions): CustomValidationResult;
  /** Converts stored objects of any version to this version. */
  convertFromStorage(stored: readonly ApiObject[]): MaybePromise<readonly ApiObject[]>;
  /** Converts an object of this version to the storage version. */
  convertToStorage(object: ApiObject): MaybePromise<ApiObject>;
  /** True if the conversions may return a promise. */
  readonly mayBeAsynchronous: boolean;
  /** Converts an object of another version to this one, without pruning. Field ownership depends on it. */
  convertUnpruned(object: ApiObject): MaybePromise<ApiObject>;
  /** The uid of the CRD: a new one with the same name is another definition. */
  readonly definitionUid: string;
  /** True while the CRD is terminating: creates are rejected. */
  readonly isTerminating: boolean;
  /** The schema as written in the CRD, for the OpenAPI documents. */
  readonly publishedSchema: JSONSchemaProps;
}

/** Options of {@link CustomResourceHandler.validate}. */
export interface CustomValidationOptions {
  readonly part: 'object' | 'status';
  readonly metadataErrors: readonly FieldError[];
  /** Errors about kind and apiVersion. */
  readonly typeErrors: readonly FieldError[];
}

/** The result of {@link CustomResourceHandler.validate}. */
export interface CustomValidationResult {
  readonly errors: readonly FieldError[];
  readonly warnings: readonly string[];
}
