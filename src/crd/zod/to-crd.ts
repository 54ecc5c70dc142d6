/**
 * Converts a kind of `defineKind` to the CustomResourceDefinition that makes a server serve it, so that a kind
 * developed with this library can be used in a real cluster.
 */

import type { Column } from '../../kinds/columns.js';
import { featureGates } from '../../kinds/feature-gates.js';
import type {
  CustomResourceColumnDefinitionInput,
  CustomResourceDefinitionInput,
  CustomResourceDefinitionVersionInput,
  CustomResourceSubresourceScaleInput,
  CustomResourceSubresourcesInput,
} from '../../kinds/generated/apiextensions-v1.js';
import type { Kind } from '../../kinds/kind.js';
import type { AnySubresource } from '../../kinds/subresource.js';
import type { Dialect, DialectName } from '../../meta/dialect.js';
import { dialectNamed, kubernetesDialect } from '../../meta/dialect.js';
import { printFieldError } from '../../meta/field-error.js';
import { apiVersionOf } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import type { JSONSchemaProps } from '../../schema/json-schema.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { completeConversion } from '../compare.js';
import { CustomResourceDefinition } from '../definition/custom-resource-definition.js';
import type { SchemaLoss } from './context.js';
import { extension } from './context.js';
import { schemaFromZod } from './schema-from-zod.js';

/** Options of {@link toCRD}. */
export interface ToCRDOptions {
  /**
   * The dialect of the service's own names. Default: `kubernetes`, because the manifest is for a real cluster. For a
   * cluster of this library use `{ dialect: cluster.dialect.name }`.
   */
  readonly dialect?: DialectName | undefined;
  /** Called for each constraint of the kind that the CRD cannot express. Throw in it to reject every loss. */
  readonly onLoss?: ((loss: SchemaLoss) => void) | undefined;
}

const OPTIONS = ['dialect', 'onLoss'] as const satisfies readonly (keyof ToCRDOptions)[];

/** A CRD manifest that can be created or applied; it has no managed fields. */
export type DefinitionManifest = CustomResourceDefinitionInput & {
  readonly metadata: { readonly name: string; readonly managedFields?: never };
};

/**
 * Converts a kind to its CustomResourceDefinition as a plain object: print it, write it to a file, or pass it to a
 * client. Several kinds become the versions of one CRD; the first one is the storage version, unless `crd.version` of one
 * says otherwise.
 *
 * The schema contains everything that zod declares and a structural schema can express: types, required fields,
 * defaults, enums, bounds, lengths, patterns, formats, nullable, lists with their keys, records, unions, descriptions.
 * It cannot express refinements, `validate` or patterns with lookaround; the CRD is then weaker than the kind, and
 * `onLoss` reports each such field. What a server would reject (a group without a dot, a default that is invalid for
 * its own schema) throws TypeError with the server's message.
 *
 * @example
 * const body = { spec: z.object({ size: z.enum(['s', 'm', 'l']).default('m') }) };
 * const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body });
 * const manifest = toCRD(Widget, { onLoss: ({ path, what }) => console.warn(`${path}: ${what}`) });
 * console.log(JSON.stringify(manifest, null, 2));
 */
export function toCRD(kind: Kind | readonly [Kind, ...Kind[]], options: ToCRDOptions = {}): DefinitionManifest {
  refuseUnknownOptions('toCRD', options, OPTIONS);
  const [first, ...others] = Array.isArray(kind) ? (kind as readonly [Kind, ...Kind[]]) : [kind as Kind];
  for (const each of [first, ...others]) checkVersion(each, first);
  const dialect = options.dialect === undefined ? kubernetesDialect : dialectNamed(options.dialect);
  const { plural, singular, listKind, shortNames, categories } = first.names;
  const group = dialect.group(first.group);
  const { labels, annotations, conversion } = first.crd ?? {};
  const report = lossReporter(options.onLoss);
  const definition: DefinitionManifest = {
    apiVersion: apiVersionOf({ group: dialect.group(CustomResourceDefinition.group), version: 'v1' }),
    kind: CustomResourceDefinition.kind,
    metadata: {
      name: `${plural}.${group}`,
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    },
    spec: {
      group,
      names: {
        plural,
        singular,
        kind: first.kind,
        listKind,
        ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
        ...(categories.length === 0 ? {} : { categories: [...categories] }),
      },
      scope: first.scope,
      versions: [
        versionOf(first, dialect, report, { storage: true }),
        ...others.map((other) => versionOf(other, dialect, report, { storage: false })),
      ],
      ...(conversion === undefined ? {} : { conversion: structuredClone(conversion) }),
    },
  };
  validateManifest(first, definition, dialect);
  return definition;
}

/** All versions of a CRD have the same names. */
function checkVersion(kind: Kind, first: Kind): void {
  if (kind.representation !== 'document' || kind.customResourceHandler !== undefined) {
    throw new TypeError(`orchplane: toCRD accepts kinds created by defineKind; ${kind.kind} is not one`);
  }
  const isSame = kind.kind === first.kind && kind.group === first.group && kind.names.plural === first.names.plural;
  if (isSame && kind.scope === first.scope) return;
  throw new TypeError(
    `orchplane: toCRD: ${kind.kind} (${kind.group}) is not a version of ${first.kind} (${first.group}): group, scope and names are the same in all versions`,
  );
}

/** Reports each loss once: alternatives of a union may lose the same constraint. */
function lossReporter(onLoss: ToCRDOptions['onLoss']): (loss: SchemaLoss) => void {
  const reported = new Set<string>();
  return (loss) => {
    const key = JSON.stringify([loss.path, loss.what]);
    if (reported.has(key)) return;
    reported.add(key);
    onLoss?.(loss);
  };
}

type Report = (loss: SchemaLoss) => void;

function versionOf(
  kind: Kind,
  dialect: Dialect,
  report: Report,
  { storage }: { readonly storage: boolean },
): CustomResourceDefinitionVersionInput {
  const { version, deprecation, strategy } = kind;
  if (strategy.create.validate !== undefined) report({ path: '', what: 'the validate function', effect: 'weaker' });
  // In the rules of the kind a date is a string. A `format` in the schema would make it a timestamp in the rules of the
  // CRD.
  const hasRules = kind.rules !== undefined && kind.rules.length > 0;
  const settings = { owner: kind.kind, dialect, report, datesAreTexts: hasRules };
  const schema = schemaFromZod(kind.body ?? {}, settings, kind.crd?.schema);
  addRules(schema, kind, dialect);
  const subresources = subresourcesOf(kind, report);
  const columns = columnsOf(kind, report);
  const fields = Object.keys(strategy.read.selectableFields);
  return {
    name: version,
    served: true,
    storage,
    ...(deprecation === undefined ? {} : { deprecated: true, deprecationWarning: deprecation(dialect) }),
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresources).length === 0 ? {} : { subresources }),
    ...(columns.length === 0 ? {} : { additionalPrinterColumns: columns }),
    ...(fields.length === 0 ? {} : { selectableFields: fields.map((field) => ({ jsonPath: `.${field}` })) }),
    ...structuredClone(kind.crd?.version),
  };
}

/** Adds the rules at the root of the schema, where `self` is the whole object. */
function addRules(schema: JSONSchemaProps, { rules = [] }: Kind, dialect: Dialect): void {
  if (rules.length > 0) schema[extension(dialect, 'validations')] = rules.map((rule) => ({ ...rule }));
}

function subresourcesOf({ subresources }: Kind, report: Report): CustomResourceSubresourcesInput {
  const found: CustomResourceSubresourcesInput = {};
  for (const [name, subresource] of Object.entries(subresources)) {
    if (name === 'status') found.status = {};
    else if (name === 'scale') found.scale = scaleOf(subresource);
    else report({ path: '', what: `the subresource ${name}`, effect: 'differs' });
  }
  return found;
}

function scaleOf(view: AnySubresource): CustomResourceSubresourceScaleInput {
  const paths = view.type === 'view' ? view.paths : undefined;
  if (paths === undefined) throw new TypeError('orchplane: toCRD: the scale subresource has no paths');
  return { ...paths };
}

/** The columns with a JSONPath. The name column is implicit. */
function columnsOf({ columns = [] }: Kind, report: Report): CustomResourceColumnDefinitionInput[] {
  return columns.flatMap((column: Column & { readonly jsonPath?: string }) => {
    const { name, type, format, description, priority, jsonPath } = column;
    if (jsonPath === undefined) {
      if (name !== 'Name') report({ path: '', what: `the column ${name}`, effect: 'differs' });
      return [];
    }
    return [
      {
        name,
        type,
        ...(format === undefined ? {} : { format }),
        ...(description === '' ? {} : { description }),
        ...(priority === undefined ? {} : { priority }),
        jsonPath,
      },
    ];
  });
}

function storedVersion({ spec }: CustomResourceDefinitionInput): string {
  return (spec.versions.find(({ storage }) => storage) ?? spec.versions[0])?.name ?? '';
}

/** Validates the CRD as a server does, so that errors are reported here and not when it is applied. */
function validateManifest(kind: Kind, definition: CustomResourceDefinitionInput, dialect: Dialect): void {
  const { spec } = definition;
  const { kind: name, plural } = spec.names;
  const stored = {
    ...definition,
    spec: { ...spec, conversion: completeConversion(spec.conversion) },
    status: { conditions: null, acceptedNames: { plural, kind: name }, storedVersions: [storedVersion(definition)] },
  };
  const context = { dialect, now: '', features: featureGates({}) };
  const problems = CustomResourceDefinition.strategy.create.validate?.(stored as ApiObject, context) ?? [];
  if (problems.length === 0) return;
  const lines = problems.map((problem) => `\n  ${printFieldError(problem)}`);
  throw new TypeError(
    `orchplane: toCRD: a server would reject the CustomResourceDefinition of ${kind.kind}:${lines.join('')}`,
  );
}
