/**
 * What makes a kind custom: its values are treated as a definition says, which may change while the cluster runs. The
 * server reads this contract; `custom/` makes it from a definition.
 */
import type { FieldError } from '../meta/field-error.js';
import type { ApiObject } from '../meta/object.js';
import type { JSONSchemaProps } from '../schema/json-schema.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';

export interface CustomForm {
  /** A copy of a document: what the schema does not know is gone and named, defaults are filled in. Throws DecodeError. */
  decode(document: ParsedBody): { readonly value: MutableRecord; readonly findings: readonly string[] };
  /** Every rule of the definition. `sofar`: what is wrong with the metadata; there are rules that then are not run. */
  judge(next: ApiObject, live: ApiObject | undefined, about: JudgementOptions): Judgement;
  /** Stored objects, of whatever version, as this version shows them. */
  show(stored: readonly ApiObject[]): MaybePromise<readonly ApiObject[]>;
  /** An object of this version in the form it is stored in. */
  store(object: ApiObject): MaybePromise<ApiObject>;
  /** Whether `show` and `store` may have to be waited for. */
  readonly mayWait: boolean;
  /** What an object of another version would be in this one, nothing dropped: who owns its fields depends on it. */
  relabel(object: ApiObject): ApiObject;
  /** True while the definition goes: no new objects. */
  readonly isTerminating: boolean;
  /** The schema as the definition has it, for the documents that tell what objects look like. */
  readonly published: JSONSchemaProps;
}

export interface JudgementOptions {
  readonly part: 'object' | 'status';
  readonly sofar: readonly FieldError[];
}

export interface Judgement {
  readonly problems: readonly FieldError[];
  readonly warnings: readonly string[];
}
