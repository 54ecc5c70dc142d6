/**
 * Builds a kind from a definition and the defaults.
 *
 * All kinds, and all strategies, have the same members in the same order, absent ones as `undefined`. They then share
 * one hidden class, and generic code reads their members at a fixed offset.
 */
import { parseApiVersion } from '../meta/gvk.js';
import { dnsSubdomainProblems, maskTrailingDash } from '../meta/names.js';
import type { Verb } from '../protocol/request.js';
import type { Shape } from '../schema/declare.js';
import type { ZodShape } from '../schema/hints.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import { isRecord } from '../util/json.js';
import type { Kind, KindNames, NameValidator, Scope, Strategy, StrategyDefinition } from './kind.js';
import { compareReleases, lifecycleWarning, REFERENCE_RELEASE } from './lifecycle.js';
import type { AnySubresource } from './subresource.js';

/** What is generated for a built-in kind from the table of its group in `types`. */
export interface BuiltInBase<ObjectScope extends Scope> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly scope: ObjectScope;
  /** The top-level fields other than `apiVersion`, `kind` and `metadata`, in wire order. */
  readonly body: () => Shape;
}

/** The members of a kind that a definition provides. */
export interface KindDescription extends Omit<BuiltInBase<Scope>, 'body'>, Pick<Kind, OptionalMember> {
  readonly names?: Partial<KindNames>;
  readonly verbs?: readonly Verb[];
  readonly subresources?: Readonly<Record<string, AnySubresource>>;
}

/** The optional members of a kind. */
export type OptionalMember =
  | 'connectSubresources'
  | 'storageVersion'
  | 'virtual'
  | 'isOwnNamespace'
  | 'gate'
  | 'deprecation'
  | 'lifecycle'
  | 'initial'
  | 'columns'
  | 'rowConditions'
  | 'rowOrder'
  | 'fieldAnnotations'
  | 'referenceStorageVersion'
  | 'rules'
  | 'crd'
  | 'customResourceHandler'
  | 'reconciler';

/** The schemas of a kind. The schema node is built on first access. */
interface KindSchemas {
  readonly representation: ObjectNode['representation'];
  readonly body?: ZodShape | undefined;
  readonly schema: () => ObjectNode;
}

const withSchemas = lazyMembers<KindSchemas, Pick<Kind, 'schema'>>({
  schema() {
    return this[SOURCE].schema();
  },
});

/** Builds a frozen kind. Throws TypeError for an invalid apiVersion, kind or scope. */
export function buildKind<Result>(
  described: KindDescription,
  forms: KindSchemas,
  strategy: StrategyDefinition,
): Result {
  const gv = parseApiVersion(described.apiVersion);
  if (gv === undefined || gv.version === '') throw new TypeError(`"${described.apiVersion}" is not an apiVersion`);
  // A CRD's kind is validated with the CRD and need not be in CamelCase.
  if (described.customResourceHandler === undefined && !/^[A-Z][A-Za-z0-9]*$/.test(described.kind)) {
    throw new TypeError(`"${described.kind}" is not a CamelCase kind`);
  }
  if (described.scope !== 'Namespaced' && described.scope !== 'Cluster') {
    throw new TypeError(
      `orchplane: ${described.kind}: scope is "Namespaced" or "Cluster", not "${String(described.scope)}"`,
    );
  }
  const parts: WithAbsent<Omit<Kind, 'schema'>> = {
    group: gv.group,
    version: gv.version,
    kind: described.kind,
    scope: described.scope,
    names: namesOf(described.kind, described.names),
    verbs: described.verbs ?? ALL_VERBS,
    representation: forms.representation,
    body: forms.body,
    strategy: strategyWithDefaults(strategy),
    subresources: described.subresources ?? {},
    connectSubresources: described.connectSubresources,
    storageVersion: described.storageVersion,
    virtual: described.virtual,
    isOwnNamespace: described.isOwnNamespace,
    gate: described.gate,
    deprecation: described.deprecation ?? deprecationFrom(described, gv),
    lifecycle: described.lifecycle,
    initial: described.initial,
    columns: described.columns,
    rowConditions: described.rowConditions,
    rowOrder: described.rowOrder,
    fieldAnnotations: described.fieldAnnotations,
    referenceStorageVersion: described.referenceStorageVersion,
    rules: described.rules,
    crd: described.crd,
    customResourceHandler: described.customResourceHandler,
    reconciler: described.reconciler,
  };
  return Object.freeze(withSchemas(parts, forms)) as unknown as Result;
}

/** The type with absent members present as `undefined`. */
type WithAbsent<Type> = { readonly [Key in keyof Type as Key extends string ? Key : never]-?: Type[Key] | undefined };

/** Fills in defaults. Every strategy has the same hidden class, absent members included. */
function strategyWithDefaults({
  name,
  decode,
  read,
  write,
  create,
  update,
  delete: deletion,
}: StrategyDefinition): Strategy {
  const whole: { readonly [Group in keyof Strategy]: WithAbsent<Strategy[Group]> } = {
    name: { validate: name?.validate ?? subdomainNameProblems, generate: name?.generate },
    decode: {
      decodeError: decode?.decodeError,
      defaults: decode?.defaults,
      rejectUnknownField: decode?.rejectUnknownField,
    },
    read: {
      uncached: read?.uncached,
      selectableFields: read?.selectableFields ?? {},
      unknownFieldLabel: read?.unknownFieldLabel,
    },
    write: {
      separateStatus: write?.separateStatus ?? false,
      ownableFields: write?.ownableFields,
      generation: write?.generation,
      authorize: write?.authorize,
      authorizeValidated: write?.authorizeValidated,
      rules: write?.rules,
      warnings: write?.warnings,
      canonicalize: write?.canonicalize,
      allocate: write?.allocate,
      release: write?.release,
    },
    create: {
      prepare: create?.prepare,
      validate: create?.validate,
      metadataValidation: create?.metadataValidation,
      warnings: create?.warnings,
    },
    update: {
      allowUnconditionalUpdate: update?.allowUnconditionalUpdate ?? true,
      allowCreateOnUpdate: update?.allowCreateOnUpdate ?? false,
      validationOrder: update?.validationOrder,
      prepare: update?.prepare,
      validate: update?.validate,
      metadataValidation: update?.metadataValidation,
    },
    delete: {
      returnDeletedObject: deletion?.returnDeletedObject ?? false,
      intercept: deletion?.intercept,
      shouldDeleteDuringUpdate: deletion?.shouldDeleteDuringUpdate,
      gracePeriod: deletion?.gracePeriod,
      defaultPropagation: deletion?.defaultPropagation,
      warnings: deletion?.warnings,
    },
  };
  return whole as Strategy;
}

/** Combines strategies group by group; members of later ones win. */
export function mergeStrategies<Object = unknown>(
  ...strategies: readonly StrategyDefinition<NoInfer<Object>>[]
): StrategyDefinition<Object> {
  const merged: { -readonly [Group in keyof StrategyDefinition]: object } = {};
  for (const strategy of strategies) {
    for (const group of Object.keys(strategy) as (keyof Strategy)[]) {
      merged[group] = { ...merged[group], ...strategy[group] };
    }
  }
  return merged as StrategyDefinition<Object>;
}

/** Requires a DNS subdomain, as most kinds do. */
export const subdomainNameProblems: NameValidator = (name, prefix) =>
  dnsSubdomainProblems(prefix ? maskTrailingDash(name) : name);

const ALL_VERBS: readonly Verb[] = Object.freeze([
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]);

/** The warning in the reference release; `deprecationOf` computes that of another release. */
function deprecationFrom(
  { lifecycle, kind }: KindDescription,
  { group, version }: { readonly group: string; readonly version: string },
): Kind['deprecation'] {
  const since = lifecycle?.deprecatedIn;
  if (lifecycle === undefined || since === undefined || compareReleases(since, REFERENCE_RELEASE) > 0) return undefined;
  return (dialect) => lifecycleWarning({ group, version, kind }, dialect, lifecycle);
}

function namesOf(kind: string, given: Partial<KindNames> = {}): KindNames {
  const singular = given.singular ?? kind.toLowerCase();
  return {
    plural: given.plural ?? pluralOf(singular),
    singular,
    listKind: given.listKind ?? `${kind}List`,
    shortNames: given.shortNames ?? [],
    categories: given.categories ?? [],
  };
}

/** Covers regular English plurals; definitions of other kinds set `names.plural`. */
function pluralOf(singular: string): string {
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`;
  if (/[^aeiou]y$/.test(singular)) return `${singular.slice(0, -1)}ies`;
  return `${singular}s`;
}

/** True if the value is a kind; for callers without a type checker. */
export function isKind(value: unknown): value is Kind {
  return isRecord(value) && isRecord(value['names']) && typeof value['kind'] === 'string';
}
