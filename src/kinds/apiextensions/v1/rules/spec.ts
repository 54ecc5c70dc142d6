/**
 * The spec of a definition, in the reference server's form: what all versions share is looked at once.
 */
import type { Dialect } from '../../../../meta/dialect.js';
import type { FieldError } from '../../../../meta/field-error.js';
import { forbidden, invalid, keyPath, notSupported, required } from '../../../../meta/field-error.js';
import { isPrintable, stringSlice } from '../../../../meta/go-text.js';
import { byteLength, dns1035LabelProblems, dnsSubdomainProblems } from '../../../../meta/names.js';
import { deepEqual } from '../../../../util/json.js';
import { webhookClientErrors } from '../../../shared/webhook-client.js';
import type {
  CustomResourceConversion,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../schema/definition.js';
import { versionsDump } from './dump.js';
import { nameErrors, requiredNameErrors, strictLabelErrors } from './names.js';
import { columnErrors, selectableFieldErrors, subresourceErrors } from './parts.js';
import { rootSchemaErrors } from './root-schema.js';

/** The parts of a version that move up when all versions have the same. */
type Shared = Partial<
  Pick<CustomResourceDefinitionVersion, 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'>
>;
const SHARED = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

export function specErrors(spec: CustomResourceDefinitionSpec, dialect: Dialect): FieldError[] {
  const all: readonly CustomResourceDefinitionVersion[] = spec.versions ?? [];
  const { common, versions } = normalForm(all);
  const statusOf = (version: Shared) => (version.subresources ?? common.subresources)?.status !== undefined;
  return [
    ...groupErrors(spec.group),
    ...scopeErrors(spec.scope),
    ...missingSchemaErrors(common, versions),
    ...versions.flatMap((version, index) => {
      const path = keyPath('spec.versions', index);
      return [
        ...strictLabelErrors(version.name, `${path}.name`),
        ...deprecationErrors(version, `${path}.deprecationWarning`),
        ...rootSchemaErrors(version.schema, `${path}.schema`, { dialect, hasStatus: statusOf(version) }),
        ...partErrors(version, path, dialect),
      ];
    }),
    ...versionSetErrors(spec.versions === null ? undefined : versions),
    ...requiredNameErrors(spec.names, 'spec.names'),
    ...nameErrors(spec.names, 'spec.names'),
    ...rootSchemaErrors(common.schema, 'spec.validation', { dialect, hasStatus: all.some(statusOf) }),
    ...partErrors(common, 'spec', dialect),
    ...conversionErrors(spec.conversion, spec.preserveUnknownFields === true),
  ];
}

interface NormalForm {
  readonly common: Shared;
  readonly versions: readonly CustomResourceDefinitionVersion[];
}

function normalForm(versions: readonly CustomResourceDefinitionVersion[]): NormalForm {
  const [first, ...others] = versions;
  if (first === undefined) return { common: {}, versions };
  const same = SHARED.filter((part) => others.every((version) => deepEqual(version[part], first[part])));
  const pick = (keep: boolean, version: CustomResourceDefinitionVersion) =>
    Object.fromEntries(
      Object.entries(version).filter(([field]) => (same as readonly string[]).includes(field) === keep),
    );
  return {
    common: pick(true, first) as Shared,
    versions: versions.map((version) => pick(false, version) as unknown as CustomResourceDefinitionVersion),
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

function missingSchemaErrors(common: Shared, versions: readonly Shared[]): FieldError[] {
  if (common.schema?.openAPIV3Schema !== undefined) return [];
  return versions.flatMap((version, index) =>
    version.schema?.openAPIV3Schema === undefined
      ? [required(`${keyPath('spec.versions', index)}.schema.openAPIV3Schema`, 'schemas are required')]
      : [],
  );
}

function versionSetErrors(given: readonly CustomResourceDefinitionVersion[] | undefined): FieldError[] {
  const versions = given ?? [];
  const names = versions.map(({ name }) => name);
  const shown = versionsDump(given);
  const found: FieldError[] = [];
  if (new Set(names).size < names.length) {
    found.push(invalid('spec.versions', shown, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    found.push(invalid('spec.versions', shown, 'must have exactly one version marked as storage version'));
  }
  // The reference server also has the first version's name in a field of its own, left from the times of one version.
  const [first = ''] = names;
  return first === '' ? found : [...found, ...strictLabelErrors(first, 'spec.version')];
}

const MAX_WARNING_LENGTH = 256;

function deprecationErrors(version: CustomResourceDefinitionVersion, path: string): FieldError[] {
  const { deprecated = false, deprecationWarning: warning } = version;
  if (warning === undefined) return [];
  const problems: string[] = [];
  if (!deprecated) problems.push('can only be set for deprecated versions');
  if ([...warning].length > MAX_WARNING_LENGTH) problems.push(`must be <= ${MAX_WARNING_LENGTH} characters long`);
  if (warning === '') problems.push('must not be an empty string');
  const odd = [...warning].findIndex((character) => !isPrintable(character));
  if (odd >= 0) {
    const index = byteLength([...warning].slice(0, odd).join(''));
    const rule = 'must only contain printable UTF-8 characters';
    problems.push(`${rule}; non-printable character found at index ${index}`);
  }
  return problems.map((detail) => invalid(path, warning, detail));
}

/** Subresources, columns and selectable fields, of one version or of all. */
function partErrors(part: Shared, path: string, dialect: Dialect): FieldError[] {
  const columns = part.additionalPrinterColumns ?? [];
  return [
    ...(part.subresources === undefined ? [] : subresourceErrors(part.subresources, `${path}.subresources`)),
    ...columns.flatMap((column, index) => columnErrors(column, keyPath(`${path}.additionalPrinterColumns`, index))),
    ...selectableFieldErrors(part, path, dialect),
  ];
}

const STRATEGIES = ['None', 'Webhook'];
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

function conversionErrors(conversion: CustomResourceConversion, preservesUnknown: boolean): FieldError[] {
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
  else found.push(...webhookClientErrors(webhook.clientConfig, clientPath));
  return [...found, ...reviewVersionErrors(versions, versionsPath)];
}

function reviewVersionErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path)];
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    const at = keyPath(path, index);
    if (seen.has(version)) found.push(invalid(at, version, 'duplicate version'));
    else found.push(...dns1035LabelProblems(version).map((detail) => invalid(at, version, detail)));
    seen.add(version);
  }
  if (!REVIEW_VERSIONS.some((version) => seen.has(version))) {
    found.push(invalid(path, stringSlice(versions), `must include at least one of ${REVIEW_VERSIONS.join(', ')}`));
  }
  return found;
}
