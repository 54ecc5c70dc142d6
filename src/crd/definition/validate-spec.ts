/**
 * Validates the spec of a CRD: group, scope, names, versions and conversion. Like the reference server's internal
 * version, parts that all versions share are validated once.
 */

import type {
  CustomResourceConversion,
  CustomResourceDefinitionNames,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../kinds/generated/apiextensions-v1.js';
import { reviewVersionErrors, webhookClientErrors } from '../../kinds/shared/webhook-client.js';
import type { Dialect } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { forbidden, invalid, keptOnUpdate, keyPath, notSupported, required } from '../../meta/field-error.js';
import { byteLength, dns1035LabelProblems, dnsSubdomainProblems } from '../../meta/names.js';
import { isPrintable } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { deepEqual } from '../../util/json.js';
import { caBundleProblem } from '../../webhook/ca-bundle.js';
import { PreexistingExpressions } from '../rules/preexisting-expressions.js';
import { innerSchemas, type StructuralSchema, structuralSchemaOf } from '../structural-schema.js';
import { caBundleErrors } from './ca-bundle.js';
import { versionsGoSyntax } from './go-syntax.js';
import { versionSchemaErrors } from './validate-schema.js';
import { columnErrors, selectableFieldErrors, subresourceErrors } from './validate-version-parts.js';

/** The parts of a version that move to the top level if all versions have the same. */
type SharedParts = Partial<
  Pick<CustomResourceDefinitionVersion, 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>
>;
const SHARED_PARTS = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

/** The CRD before an update. */
export interface OldDefinition {
  readonly spec: CustomResourceDefinitionSpec;
  readonly isEstablished: boolean;
}

/** Validates a CRD spec; `before` is given for updates. */
export function specErrors(spec: CustomResourceDefinitionSpec, dialect: Dialect, before?: OldDefinition): FieldError[] {
  const all: readonly CustomResourceDefinitionVersion[] = spec.versions ?? [];
  const preexisting = new PreexistingExpressions(before?.spec.versions ?? [], dialect);
  const schemaContext = (version: CustomResourceDefinitionVersion | undefined, hasStatus: boolean) => {
    const isUnchanged = version !== undefined && preexisting.isUnchanged(version);
    return { dialect, hasStatus, preexisting, isUnchanged };
  };
  const { common, versions } = splitSharedParts(all);
  const statusOf = (version: SharedParts) => (version.subresources ?? common.subresources)?.status !== undefined;
  return [
    ...groupErrors(spec.group),
    ...scopeErrors(spec.scope),
    ...missingSchemaErrors(common, versions),
    ...preserveUnknownDefaultErrors(spec, all, dialect),
    ...versions.flatMap((version, index) => {
      const path = keyPath('spec.versions', index);
      return [
        ...dnsLabelErrors(version.name, `${path}.name`),
        ...deprecationErrors(version, `${path}.deprecationWarning`),
        // As in the reference server, equal names share the subresources of the first version.
        ...versionSchemaErrors(
          version.schema,
          `${path}.schema`,
          schemaContext(all[index], statusOf(versions.find(({ name }) => name === version.name) ?? version)),
        ),
        ...partErrors(version, path, dialect),
      ];
    }),
    ...versionSetErrors(spec.versions === null ? undefined : versions),
    ...requiredNameErrors(spec.names, 'spec.names'),
    ...nameErrors(spec.names, 'spec.names'),
    ...(dialect.rules.customKindIsCamelCase ? camelCaseErrors(spec.names.kind, 'spec.names.kind') : []),
    ...versionSchemaErrors(common.schema, 'spec.validation', schemaContext(all[0], all.some(statusOf))),
    ...partErrors(common, 'spec', dialect),
    ...conversionErrors(spec.conversion, spec.preserveUnknownFields === true, before),
  ];
}

interface SplitVersions {
  readonly common: SharedParts;
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

function splitSharedParts(versions: readonly CustomResourceDefinitionVersion[]): SplitVersions {
  const [first, ...others] = versions;
  if (first === undefined) return { common: {}, versions };
  const same = SHARED_PARTS.filter((part) => others.every((version) => deepEqual(version[part], first[part])));
  const pick = (keep: boolean, version: CustomResourceDefinitionVersion) =>
    Object.fromEntries(
      Object.entries(version).filter(([field]) => (same as readonly string[]).includes(field) === keep),
    );
  return {
    common: pick(true, first) as SharedParts,
    versions: versions.map((version) => pick(false, version) as CustomResourceDefinitionVersion),
  };
}

function groupErrors(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

const SCOPES = ['Cluster', 'Namespaced'];

function scopeErrors(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope')];
  return SCOPES.includes(scope) ? [] : [notSupported('spec.scope', scope, SCOPES)];
}

function missingSchemaErrors(common: SharedParts, versions: readonly SharedParts[]): FieldError[] {
  if (common.schema?.openAPIV3Schema !== undefined) return [];
  return versions.flatMap((version, index) =>
    version.schema?.openAPIV3Schema === undefined
      ? [required(`${keyPath('spec.versions', index)}.schema.openAPIV3Schema`, 'schemas are required')]
      : [],
  );
}

/** Defaults require pruning: they are invalid with `preserveUnknownFields`. */
function preserveUnknownDefaultErrors(
  { preserveUnknownFields }: CustomResourceDefinitionSpec,
  versions: readonly SharedParts[],
  dialect: Dialect,
): FieldError[] {
  if (preserveUnknownFields !== true) return [];
  const schemas = versions.flatMap(({ schema }) => schema?.openAPIV3Schema ?? []);
  if (!schemas.some((schema) => hasDefaultsInside(structuralSchemaOf(schema, dialect)))) return [];
  return [invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema')];
}

function hasDefaultsInside(node: StructuralSchema): boolean {
  return node.raw.default !== undefined || innerSchemas(node).some(hasDefaultsInside);
}

function versionSetErrors(given: readonly CustomResourceDefinitionVersion[] | undefined): FieldError[] {
  const versions = given ?? [];
  const names = versions.map(({ name }) => name);
  const shown = versionsGoSyntax(given);
  const found: FieldError[] = [];
  if (new Set(names).size < names.length) {
    found.push(invalid('spec.versions', shown, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    found.push(invalid('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  // The reference server also validates `spec.version`, a field for the first version that dates from single-version
  // CRDs.
  // upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go validateCustomResourceDefinitionSpec
  const [first = ''] = names;
  return first === '' ? found : [...found, ...dnsLabelErrors(first, 'spec.version')];
}

const MAX_WARNING_LENGTH = 256;

function deprecationErrors(version: CustomResourceDefinitionVersion, path: string): FieldError[] {
  const { deprecated = false, deprecationWarning: warning } = version;
  if (warning === undefined) return [];
  if (!deprecated) return [invalid(path, warning, 'can only be set for deprecated versions')];
  const problems: string[] = [];
  if (byteLength(warning) > MAX_WARNING_LENGTH) problems.push(`must be <= ${MAX_WARNING_LENGTH} characters long`);
  if (warning === '') problems.push('must not be an empty string');
  const odd = [...warning].findIndex((character) => !isPrintable(character));
  if (odd >= 0) {
    const index = byteLength([...warning].slice(0, odd).join(''));
    const rule = 'must only contain printable UTF-8 characters';
    problems.push(`${rule}; non-printable character found at index ${index}`);
  }
  return problems.map((detail) => invalid(path, warning, detail));
}

/** Validates subresources, columns and selectable fields of one version, or those that all versions share. */
function partErrors(part: SharedParts, path: string, dialect: Dialect): FieldError[] {
  const columns = part.additionalPrinterColumns ?? [];
  return [
    ...(part.subresources === undefined ? [] : subresourceErrors(part.subresources, `${path}.subresources`)),
    ...columns.flatMap((column, index) =>
      columnErrors(column, keyPath(`${path}.additionalPrinterColumns`, index), dialect),
    ),
    ...selectableFieldErrors(part, path, dialect),
  ];
}

const STRATEGIES = ['None', 'Webhook'];

function conversionErrors(
  conversion: CustomResourceConversion,
  preservesUnknown: boolean,
  before: OldDefinition | undefined,
): FieldError[] {
  const { webhook } = conversion;
  const strategy: string = conversion.strategy;
  const [clientPath, versionsPath] = [
    'spec.conversion.webhookClientConfig',
    'spec.conversion.conversionReviewVersions',
  ];
  const found: FieldError[] = [];
  if (strategy !== 'None' && preservesUnknown) {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    found.push(invalid('spec.conversion.strategy', strategy, detail));
  }
  if (strategy === '') found.push(required('spec.conversion.strategy'));
  else if (!STRATEGIES.includes(strategy)) {
    found.push(notSupported('spec.conversion.strategy', strategy, STRATEGIES));
  }
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    const given = [webhook?.clientConfig === undefined ? '' : clientPath, versions.length === 0 ? '' : versionsPath];
    return [...found, ...given.filter(Boolean).map((field) => forbidden(field, detail))];
  }
  if (webhook?.clientConfig === undefined) found.push(required(clientPath, 'required when strategy is set to Webhook'));
  else {
    append(found, webhookClientErrors(webhook.clientConfig, clientPath));
    const { caBundle } = webhook.clientConfig;
    // A CRD with a bad bundle can be created but is not established. An update may replace one bad bundle by another.
    const isFree = before?.isEstablished !== true || caBundleProblem(caBundleOf(before.spec)) !== undefined;
    if (!isFree) append(found, caBundleErrors(caBundle, `${clientPath}.caBundle`));
  }
  return [
    ...found,
    ...(versions.length === 0 ? [required(versionsPath)] : reviewVersionErrors(versions, versionsPath)),
  ];
}

function caBundleOf({ conversion }: CustomResourceDefinitionSpec): string | undefined {
  return conversion?.webhook?.clientConfig?.caBundle;
}

/** Validates that the required names are present (after defaulting). */
function requiredNameErrors(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const fields = ['plural', 'singular', 'kind', 'listKind'] as const;
  return fields.filter((field) => (names[field] ?? '') === '').map((field) => required(`${path}.${field}`));
}

/** Validates the syntax of the names that are present. */
export function nameErrors(names: CustomResourceDefinitionNames, path: string): FieldError[] {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const found = [
    ...optionalDnsLabelErrors(plural, `${path}.plural`),
    ...optionalDnsLabelErrors(singular, `${path}.singular`),
    ...mixedCaseErrors(kind, `${path}.kind`),
    ...mixedCaseErrors(listKind, `${path}.listKind`),
    ...shortNames.flatMap((name, index) => dnsLabelErrors(name, keyPath(`${path}.shortNames`, index))),
  ];
  if (kind !== '' && kind === listKind) {
    found.push(invalid(`${path}.listKind`, listKind, 'kind and listKind may not be the same'));
  }
  return [...found, ...categories.flatMap((name, index) => dnsLabelErrors(name, keyPath(`${path}.categories`, index)))];
}

function optionalDnsLabelErrors(name: string, path: string): FieldError[] {
  return name === '' ? [] : dnsLabelErrors(name, path);
}

/** Validates a version name or a short name as a DNS label. All problems form one message. */
function dnsLabelErrors(name: string, path: string): FieldError[] {
  const problems = dns1035LabelProblems(name);
  return problems.length === 0 ? [] : [invalid(path, name, problems.join(','))];
}

function camelCaseErrors(kind: string, path: string): FieldError[] {
  // Other characters are reported with the other names.
  if (/^[A-Z][A-Za-z0-9]*$/.test(kind) || mixedCaseErrors(kind, path).length > 0 || kind === '') return [];
  const detail = 'must be in CamelCase: an upper case letter, followed by letters and digits';
  return [keptOnUpdate(invalid(path, kind, detail))];
}

function mixedCaseErrors(name: string, path: string): FieldError[] {
  const problems = name === '' ? [] : dns1035LabelProblems(name.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(path, name, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}
