/**
 * Compares two CRDs by what they make a server do. Documentation, labels and annotations, and the order of sets do not
 * count.
 */
import type {
  CustomResourceConversionInput,
  CustomResourceDefinitionInput,
} from '../kinds/generated/apiextensions-v1.js';
import type { Dialect } from '../meta/dialect.js';
import { deepEqual, isRecord } from '../util/json.js';

/** A CRD as a file contains it. */
export type CrdManifest = CustomResourceDefinitionInput & {
  readonly apiVersion: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/** A difference between two CRDs. */
export interface CrdDifference {
  /** `spec.versions[v1].schema.openAPIV3Schema.properties.spec.maxLength`. */
  readonly path: string;
  /** The values; undefined if one of them has none. */
  readonly left: unknown;
  readonly right: unknown;
}

/** The differences of two CRDs of the same dialect. `withDocumentation` compares descriptions too. */
export function crdDifferences(
  left: CustomResourceDefinitionInput,
  right: CustomResourceDefinitionInput,
  { dialect, withDocumentation = false }: { readonly dialect: Dialect; readonly withDocumentation?: boolean },
): CrdDifference[] {
  const rules = { dialect, withDocumentation };
  return differencesOf(normalSpec(left, rules), normalSpec(right, rules), 'spec');
}

interface CompareRules {
  readonly dialect: Dialect;
  readonly withDocumentation: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** The spec with defaults, and with versions by name. */
function normalSpec({ spec }: CustomResourceDefinitionInput, rules: CompareRules): Json {
  const { names, versions, conversion, group, scope } = spec;
  return {
    group,
    scope,
    names: plain({
      ...names,
      singular: names.singular || names.kind.toLowerCase(),
      listKind: names.listKind || `${names.kind}List`,
      shortNames: sorted(names.shortNames),
      categories: sorted(names.categories),
    }),
    conversion: plain(completeConversion(conversion)),
    versions: Object.fromEntries(
      versions.map(({ name, schema, subresources, ...rest }) => [
        name,
        {
          ...(plain(rest) as Json),
          subresources: subresources ?? {},
          schema: { openAPIV3Schema: rootSchema(schema?.openAPIV3Schema, rules) },
        },
      ]),
    ),
  };
}

/** A conversion with the defaults that a server sets. */
export function completeConversion(
  conversion: CustomResourceConversionInput | undefined,
): CustomResourceConversionInput {
  const { strategy = 'None', webhook } = conversion ?? {};
  const service = webhook?.clientConfig?.service;
  if (webhook === undefined || service === undefined)
    return { strategy, ...(webhook === undefined ? {} : { webhook }) };
  const clientConfig = { ...webhook.clientConfig, service: { ...service, port: service.port ?? DEFAULT_PORT } };
  return { strategy, webhook: { ...webhook, clientConfig } };
}

const DEFAULT_PORT = 443;

function sorted(list: readonly string[] | undefined): readonly string[] | undefined {
  return list === undefined ? undefined : [...list].sort();
}

/** Without members that have no effect: false, empty lists. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => {
    const isEmptyList = Array.isArray(inner) && inner.length === 0;
    return inner !== undefined && inner !== null && inner !== false && !isEmptyList;
  });
  return Object.fromEntries(kept.map(([key, inner]) => [key, plain(inner)]));
}

/** The schema of an object; the fields of every object count only if they declare more than their type. */
function rootSchema(schema: unknown, rules: CompareRules): unknown {
  const normal = normalSchema(schema, rules);
  if (!isRecord(normal) || !isRecord(normal['properties'])) return normal;
  const properties = Object.entries(normal['properties']).filter(([name, field]) => {
    const isCommon = ['apiVersion', 'kind', 'metadata'].includes(name);
    return !isCommon || (isRecord(field) && Object.keys(field).some((key) => key !== 'type' && key !== 'description'));
  });
  const { properties: _, ...rest } = normal;
  return properties.length === 0 ? rest : { ...rest, properties: Object.fromEntries(properties) };
}

const DOCUMENTATION: readonly string[] = ['description', 'title', 'example', 'externalDocs'];
/** Keywords that contain schemas: one, a list, or by name. */
const SCHEMA_KEYWORDS: readonly string[] = ['items', 'not', 'additionalProperties', 'allOf', 'anyOf', 'oneOf'];
const SETS: readonly string[] = ['required', 'enum'];
/** Keywords of which false means the same as their absence. */
const FLAGS: readonly string[] = ['nullable', 'exclusiveMinimum', 'exclusiveMaximum', 'uniqueItems'];

function normalSchema(schema: unknown, rules: CompareRules): unknown {
  if (Array.isArray(schema)) return schema.map((each) => normalSchema(each, rules));
  if (!isRecord(schema)) return schema;
  const { dialect, withDocumentation } = rules;
  const defaults: Json = { [dialect.extension('list-type')]: 'atomic', [dialect.extension('map-type')]: 'granular' };
  const flags = [...FLAGS, ...['embedded-resource', 'int-or-string'].map((name) => dialect.extension(name))];
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (value === undefined || value === null) return [];
    if (!withDocumentation && DOCUMENTATION.includes(key)) return [];
    if (flags.includes(key) && value === false) return [];
    if (Object.hasOwn(defaults, key) && defaults[key] === value) return [];
    if (Array.isArray(value) && value.length === 0) return [];
    if (SETS.includes(key) && Array.isArray(value)) return [[key, sortedValues(value)]];
    if (key === 'properties' && isRecord(value)) {
      const fields = Object.entries(value).map(([name, field]) => [name, normalSchema(field, rules)]);
      return fields.length === 0 ? [] : [[key, Object.fromEntries(fields)]];
    }
    return [[key, SCHEMA_KEYWORDS.includes(key) ? normalSchema(value, rules) : value]];
  });
  return Object.fromEntries(entries);
}

function sortedValues(values: readonly unknown[]): unknown[] {
  return [...new Set(values.map((value) => JSON.stringify(value)))].sort().map((text) => JSON.parse(text) as unknown);
}

function differencesOf(left: unknown, right: unknown, path: string): CrdDifference[] {
  if (deepEqual(left, right)) return [];
  if (!isRecord(left) || !isRecord(right)) return [{ path, left, right }];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differencesOf(left[key], right[key], path === 'spec.versions' ? `${path}[${key}]` : `${path}.${key}`),
  );
}
