/**
 * CustomResourceDefinitions in version v1beta1, in which kube-apiserver stores them: what all versions of the CRD have
 * in common is written once, at the top of the spec.
 * upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go
 */
import { deepEqual, isRecord, type MutableRecord, withoutUndefined } from '../util/json.js';

type Fields = Readonly<Record<string, unknown>>;

/** Properties of a version, and their names at the top of a v1beta1 spec. */
const SHARED: readonly (readonly [inVersion: string, inSpec: string])[] = [
  ['schema', 'validation'],
  ['subresources', 'subresources'],
  ['additionalPrinterColumns', 'additionalPrinterColumns'],
  ['selectableFields', 'selectableFields'],
];

/** The spec of a v1 CRD in v1beta1, with its fields in wire order. */
export function toV1beta1Spec(spec: Fields): Fields {
  const versions = recordsIn(spec['versions']);
  const [first = {}] = versions;
  const isShared = (name: string): boolean => versions.every((version) => deepEqual(version[name], first[name]));
  const shared: MutableRecord = {};
  for (const [name, above] of SHARED) if (isShared(name)) shared[above] = columnsTo(JSON_PATHS.v1beta1, first[name]);
  const own = (version: Fields): Fields =>
    withoutUndefined({
      name: version['name'],
      served: version['served'],
      storage: version['storage'],
      deprecated: version['deprecated'],
      deprecationWarning: version['deprecationWarning'],
      ...Object.fromEntries(
        SHARED.map(([name]) => [name, isShared(name) ? undefined : columnsTo(JSON_PATHS.v1beta1, version[name])]),
      ),
    });
  return withoutUndefined({
    group: spec['group'],
    version: first['name'],
    names: spec['names'],
    scope: spec['scope'],
    validation: shared['validation'],
    subresources: shared['subresources'],
    versions: versions.map(own),
    additionalPrinterColumns: shared['additionalPrinterColumns'],
    selectableFields: shared['selectableFields'],
    conversion: toV1beta1Conversion(spec['conversion']),
    preserveUnknownFields: spec['preserveUnknownFields'] ?? false,
  });
}

/** The spec of a v1beta1 CRD in v1. */
export function fromV1beta1Spec(spec: Fields): Fields {
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, conversion, ...rest } = spec;
  const listed = recordsIn(spec['versions']);
  const versions = listed.length > 0 ? listed : [{ name: version, served: true, storage: true }];
  const isGiven = (name: string): boolean => spec[name] !== undefined && spec[name] !== null;
  return withoutUndefined({
    ...rest,
    versions: versions.map((own) => {
      const out: MutableRecord = { ...own };
      for (const [name, above] of SHARED) {
        const value = isGiven(above) ? spec[above] : out[name];
        out[name] = columnsTo(JSON_PATHS.v1, value);
      }
      return withoutUndefined(out);
    }),
    conversion: fromV1beta1Conversion(conversion),
    preserveUnknownFields: spec['preserveUnknownFields'] ?? true,
  });
}

/** Printer columns have a path whose name differs between the versions. */
const JSON_PATHS = { v1: ['JSONPath', 'jsonPath'], v1beta1: ['jsonPath', 'JSONPath'] } as const;

function columnsTo([from, to]: readonly [string, string], value: unknown): unknown {
  if (!Array.isArray(value) || !value.some((item) => isRecord(item) && 'type' in item)) return value;
  return recordsIn(value).map(({ [from]: path, ...column }) => ({ ...column, [to]: path }));
}

function toV1beta1Conversion(conversion: unknown): unknown {
  if (!isRecord(conversion)) return conversion;
  const { strategy, webhook } = conversion;
  const { clientConfig, conversionReviewVersions } = isRecord(webhook) ? webhook : {};
  return withoutUndefined({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions });
}

function fromV1beta1Conversion(conversion: unknown): unknown {
  if (!isRecord(conversion)) return conversion;
  const { strategy, webhookClientConfig: clientConfig, conversionReviewVersions } = conversion;
  if (clientConfig === undefined && conversionReviewVersions === undefined) return { strategy };
  return { strategy, webhook: withoutUndefined({ clientConfig, conversionReviewVersions }) };
}

function recordsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
