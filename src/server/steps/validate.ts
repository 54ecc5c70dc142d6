/**
 * Validation: metadata, the schema and the kind's `validate` hook. Throws one 422 with all field errors, in the
 * order and number in which the reference server reports them.
 */
import type { CustomValidationOptions } from '../../kinds/custom-resource-handler.js';
import type { Kind, MetadataErrors, MetadataStrictness } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { SubresourceStrategy } from '../../kinds/subresource.js';
import { errors } from '../../meta/errors.js';
import {
  countingFieldErrors,
  duplicate,
  type FieldError,
  invalid,
  keyPath,
  TooManyFieldErrors,
} from '../../meta/field-error.js';
import { parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { ListNode, SchemaNode } from '../../schema/schema-node.js';
import { typeRuleErrors } from '../../schema/type-rules.js';
import { bodyProblems } from '../../schema/zod-errors.js';
import { verbatim } from '../../text/go/go-text.js';
import { goSyntax } from '../../text/go/go-value.js';
import { append } from '../../util/arrays.js';
import { translateError } from '../../util/catch-error.js';
import { encodeSorted, isRecord } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import type { WriteOperation, WriteTarget } from '../write-operation.js';
import {
  anyNameProblems,
  BUILT_IN_METADATA_CHECKS,
  DOCUMENT_METADATA_CHECKS,
  GENERIC_METADATA_CHECKS,
  metadataProblems,
  metadataUpdateProblems,
  sharedProblems,
  unqualifiedFinalizerErrors,
} from './validate-metadata.js';

const NONE: readonly FieldError[] = Object.freeze([]);

export function validate(draft: DraftObject, target: WriteTarget, write: WriteOperation): void {
  const object = draft as unknown as ApiObject;
  const { served } = write;
  limitErrors(served, object.metadata.name, () => {
    // Reported alone: the hooks of a kind expect the fields that its types always have in the reference server.
    reject(
      object,
      write,
      newErrors(object, target.live, (one) => typeRuleErrors(served.schema, one, served.dialect)),
    );
    reject(
      object,
      write,
      newErrors(object, target.live, (one) =>
        target.live === undefined ? createErrors(one, write) : updateErrors(one, target.live, target, write),
      ),
    );
    if (target.live === undefined) reject(object, write, anyNameProblems(object));
  });
}

/** Throws a 422 with the first errors when a validation finds too many. */
export function limitErrors<Result>(
  { groupKind }: Pick<WriteOperation['served'], 'groupKind'>,
  name: string | undefined,
  run: () => Result,
): Result {
  return translateError(
    TooManyFieldErrors,
    () => countingFieldErrors(run),
    ({ first }) => errors.invalid(groupKind, name ?? '', first, { isCut: true }),
  );
}

/** Without the errors that the stored object has and may keep. */
function newErrors(
  next: ApiObject,
  live: ApiObject | undefined,
  find: (object: ApiObject) => readonly FieldError[],
): readonly FieldError[] {
  const found = find(next);
  if (live === undefined || !found.some(({ isKeptOnUpdate }) => isKeptOnUpdate)) return found;
  const textOf = ({ type, field }: FieldError) => `${type} ${field}`;
  const known = new Set(find(live).map(textOf));
  return found.filter((error) => error.isKeptOnUpdate !== true || !known.has(textOf(error)));
}

function updateErrors(
  next: ApiObject,
  live: ApiObject,
  { subresource }: WriteTarget,
  write: WriteOperation,
): readonly FieldError[] {
  const { kind } = write.served;
  const shared = sharedProblems(next.metadata);
  const updateProblems = metadataUpdateProblems(next, live, shared);
  const problems = metadataProblems(next, kind, GENERIC_METADATA_CHECKS, shared);
  append(problems, updateProblems);
  const validateHook = (subresource ?? kind.strategy.update).validate;
  const metadata = metadataErrorsOf(next, kind, { shared, updateProblems });
  if (subresource === undefined && kind.strategy.update.validationOrder !== undefined) {
    for (const step of kind.strategy.update.validationOrder) {
      if (step === 'metadata') append(problems, metadata.forUpdate());
      else if (step === 'update') append(problems, validateHook?.(next, live, write.hookContext, metadata) ?? NONE);
      else append(problems, createErrors(next, write, live));
    }
    return problems;
  }
  if (kind.customResourceHandler !== undefined) {
    const part = write.request.subresource === 'status' ? 'status' : 'object';
    append(problems, customResourceErrors(next, live, { part, metadataErrors: updateProblems, write }));
    return problems;
  }
  // The kind validates metadata again.
  const strictness = strictnessOnUpdate(kind, subresource);
  if (strictness === 'repeated' || strictness === 'strict') append(problems, updateProblems);
  if (strictness === 'strict') append(problems, unqualifiedFinalizerErrors(next.metadata));
  if (kind.representation === 'document') {
    append(
      problems,
      documentProblems(next, live, { write, runHook: () => validateHook?.(next, live, write.hookContext, metadata) }),
    );
  } else {
    append(problems, validateHook?.(next, live, write.hookContext, metadata) ?? NONE);
  }
  return problems;
}

function strictnessOnUpdate(
  kind: Kind,
  subresource: SubresourceStrategy | undefined,
): MetadataStrictness | 'inValidate' {
  const own = (subresource ?? kind.strategy.update).metadataValidation;
  return own ?? (isBuiltIn(kind) ? 'strict' : 'repeated');
}

function strictnessOnCreate(kind: Kind): MetadataStrictness {
  return kind.strategy.create.metadataValidation ?? (isBuiltIn(kind) ? 'strict' : 'repeated');
}

function metadataErrorsOf(
  next: ApiObject,
  kind: Kind,
  found: { readonly shared: readonly FieldError[]; readonly updateProblems: readonly FieldError[] },
): MetadataErrors {
  const { shared, updateProblems } = found;
  const isStrict = strictnessOnCreate(kind) === 'strict';
  return {
    forCreate: () =>
      metadataProblems(next, kind, isStrict ? BUILT_IN_METADATA_CHECKS : DOCUMENT_METADATA_CHECKS, shared),
    forUpdate: () => (isStrict ? [...updateProblems, ...unqualifiedFinalizerErrors(next.metadata)] : updateProblems),
  };
}

function isBuiltIn({ representation, customResourceHandler: custom }: Kind): boolean {
  return representation === 'struct' && custom === undefined;
}

function createErrors(object: ApiObject, write: WriteOperation, live?: ApiObject): FieldError[] {
  const { kind } = write.served;
  if (kind.customResourceHandler !== undefined) {
    const metadataErrors = metadataProblems(object, kind, DOCUMENT_METADATA_CHECKS);
    return customResourceErrors(object, undefined, { part: 'object', metadataErrors, write });
  }
  const runHook = () => kind.strategy.create.validate?.(object, write.hookContext, live);
  const ofBody =
    kind.representation === 'document' ? documentProblems(object, undefined, { write, runHook }) : (runHook() ?? NONE);
  const strictness = strictnessOnCreate(kind);
  // Kinds that do not validate metadata report it only if the rest is valid.
  if (strictness === 'none' && ofBody.length > 0) return [...ofBody];
  const problems = metadataProblems(object, kind, METADATA_CHECKS[strictness]);
  append(problems, ofBody);
  return problems;
}

const METADATA_CHECKS = {
  strict: BUILT_IN_METADATA_CHECKS,
  repeated: DOCUMENT_METADATA_CHECKS,
  none: GENERIC_METADATA_CHECKS,
} as const satisfies Readonly<Record<MetadataStrictness, unknown>>;

/**
 * A document is validated by its schema, types and required fields included, then by its CEL rules and its `validate` hook.
 */
function documentProblems(
  object: ApiObject,
  live: ApiObject | undefined,
  { write, runHook }: { readonly write: WriteOperation; readonly runHook: () => readonly FieldError[] | undefined },
): readonly FieldError[] {
  const { kind } = write.served;
  const problems = [...bodyProblems(kind.body ?? {}, kind.schema, object), ...repeatedItems(kind.schema, object)];
  if (problems.length === 0) return [...kindRuleErrors(object, live, write), ...runValidateHook(runHook, write)];
  try {
    return [...problems, ...(runHook() ?? [])];
  } catch {
    // The hook may throw for an object that violates the schema; the schema errors are reported.
    return problems;
  }
}

function kindRuleErrors(object: ApiObject, live: ApiObject | undefined, write: WriteOperation): readonly FieldError[] {
  const result = write.served.kind.strategy.write.rules?.(object, live);
  if (result === undefined) return [];
  append(write.warnings, result.warnings);
  return result.errors;
}

/** Validates a custom resource by its CRD: metadata, schema and x-kubernetes-validations, in `crd/version-handler.ts`. */
function customResourceErrors(
  next: ApiObject,
  live: ApiObject | undefined,
  { write, ...options }: Omit<CustomValidationOptions, 'typeErrors'> & { readonly write: WriteOperation },
): FieldError[] {
  const { served, warnings } = write;
  const typeErrors = wrongTypeErrors(next, served);
  const result = served.kind.customResourceHandler?.validate(next, live, { ...options, typeErrors });
  append(warnings, result?.warnings ?? []);
  return [...(result?.errors ?? [])];
}

/** The errors of a custom resource with another kind or apiVersion. */
function wrongTypeErrors({ kind, apiVersion }: ApiObject, served: ServedKind): readonly FieldError[] {
  return [
    ...(kind === served.gvk.kind ? [] : [invalid('kind', kind, `must be ${served.gvk.kind}`)]),
    ...(apiVersion === served.apiVersion ? [] : [invalid('apiVersion', apiVersion, `must be ${served.apiVersion}`)]),
  ];
}

/** A hook that throws is a bug of the kind: 500. */
function runValidateHook(
  runHook: () => readonly FieldError[] | undefined,
  write: WriteOperation,
): readonly FieldError[] {
  try {
    return runHook() ?? [];
  } catch (error) {
    if (error instanceof TooManyFieldErrors) throw error;
    throw errors.internal(`validate of ${write.served.kind.kind} failed: ${messageOf(error)}`, error);
  }
}

function reject(object: ApiObject, write: WriteOperation, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  throw errors.invalid(write.groupKind, object.metadata.name ?? '', problems);
}

/** The group and kind in errors: those of the request; of a custom resource, its own, which may be other ones. */
export function groupKindOf({ kind, apiVersion }: DraftObject, served: ServedKind): ServedKind['groupKind'] {
  const { groupKind, gvk } = served;
  if (served.kind.customResourceHandler === undefined) return groupKind;
  return { group: parseApiVersion(apiVersion)?.group ?? gvk.group, kind };
}

function repeatedItems(node: SchemaNode, value: unknown, path = ''): readonly FieldError[] {
  switch (node.type) {
    case 'object':
      if (!isRecord(value)) return [];
      return [...node.fields.values()].flatMap(({ name, node: child }) =>
        Object.hasOwn(value, name) ? repeatedItems(child, value[name], path === '' ? name : `${path}.${name}`) : [],
      );
    case 'map':
      if (!isRecord(value)) return [];
      return Object.keys(value).flatMap((key) => repeatedItems(node.values, value[key], keyPath(path, key)));
    case 'list':
      if (!Array.isArray(value)) return [];
      return [
        ...duplicateItemErrors(node, value, path),
        ...value.flatMap((item, index) => repeatedItems(node.items, item, keyPath(path, index))),
      ];
    case 'scalar':
    case 'any':
      return [];
  }
}

function duplicateItemErrors(list: ListNode, items: readonly unknown[], path: string): readonly FieldError[] {
  if (list.listType === 'atomic') return [];
  const seen = new Set<string>();
  const found: FieldError[] = [];
  for (const [index, item] of items.entries()) {
    const identity = list.listType === 'set' ? item : keysOf(list, item);
    const text = encodeSorted(identity);
    if (!seen.has(text)) seen.add(text);
    else found.push(duplicate(keyPath(path, index), isRecord(identity) ? verbatim(goSyntax(identity)) : identity));
  }
  return found;
}

function keysOf(list: ListNode, item: unknown): Readonly<Record<string, unknown>> {
  const record = isRecord(item) ? item : {};
  const present = list.mapKeys.filter((key) => Object.hasOwn(record, key));
  return Object.fromEntries(present.map((key) => [key, record[key]]));
}
