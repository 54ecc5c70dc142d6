/**
 * Validation of `fieldRef` and `resourceFieldRef`, by which volumes and environment variables expose fields of the pod
 * and resources of its containers.
 */
import { childPath, type FieldError, invalid, notSupported, required } from '../../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import type { ObjectFieldSelector, ResourceFieldSelector } from '../../../generated/core-v1.js';
import { valueErrors } from '../../../shared/field-rules.js';

/** Fields that a volume can expose, in the order in which messages list them. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** All fields that a `fieldRef` can name. */
const FIELDS: readonly string[] = [
  ...VOLUME_FIELDS,
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const RESOURCES: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const CPU_DIVISORS = ['1m', '1'];
const SIZE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** Validates the reference at `path` (`….fieldRef`). `allowed` is the sorted list of supported fields. */
export function fieldRefProblems(path: string, ref: ObjectFieldSelector, allowed: readonly string[]): FieldError[] {
  const { apiVersion, fieldPath } = ref;
  const at = childPath(path, 'fieldPath');
  if (apiVersion === '') return [required(childPath(path, 'apiVersion'))];
  if (fieldPath === '') return [required(at)];
  const conversionError = (why: string) => [invalid(at, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return conversionError(`unsupported pod version: ${apiVersion}`);
  const subscripted = splitSubscript(fieldPath);
  if (subscripted !== undefined) {
    const { field, key } = subscripted;
    if (field !== 'metadata.annotations' && field !== 'metadata.labels') {
      return conversionError(`field label does not support subscript: ${fieldPath}`);
    }
    // Keys of annotations may contain capital letters, keys of labels may not.
    const name = field === 'metadata.annotations' ? key.toLowerCase() : key;
    return qualifiedNameProblems(name).map((problem) => invalid(path, name, problem));
  }
  // `spec.host` is the old name of `spec.nodeName`.
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!FIELDS.includes(field)) return conversionError(`field label not supported: ${fieldPath}`);
  return valueErrors(at, field, allowed);
}

/** Splits `metadata.labels['app']` into `metadata.labels` and `app`. */
function splitSubscript(fieldPath: string): { readonly field: string; readonly key: string } | undefined {
  if (!fieldPath.endsWith("']")) return undefined;
  const inner = fieldPath.slice(0, -2);
  const open = inner.indexOf("['");
  return open <= 0 ? undefined : { field: inner.slice(0, open), key: inner.slice(open + 2) };
}

/** Validates the reference at `path` (`….resourceFieldRef`). In a volume the container name is required. */
export function resourceFieldRefProblems(
  path: string,
  ref: ResourceFieldSelector,
  { inVolume }: { readonly inVolume: boolean },
): FieldError[] {
  const { containerName = '', resource, divisor } = ref;
  return [
    ...resourceProblems(path, { containerName, resource, inVolume }),
    ...divisorProblems(path, resource, divisor),
  ];
}

function resourceProblems(
  path: string,
  ref: { readonly containerName: string; readonly resource: string; readonly inVolume: boolean },
): FieldError[] {
  const { containerName, resource, inVolume } = ref;
  if (inVolume && containerName === '') return [required(childPath(path, 'containerName'))];
  if (resource === '') return [required(childPath(path, 'resource'))];
  if (RESOURCES.includes(resource) || isHugePages(resource)) return [];
  return [notSupported(childPath(path, 'resource'), resource, RESOURCES)];
}

function divisorProblems(path: string, resource: string, divisor: string): FieldError[] {
  const given = Quantity.parse(divisor);
  if (given.isZero()) return [];
  const kind = divisorKind(resource);
  if (kind === undefined || kind.divisors.includes(given.toString())) return [];
  // As in the reference server, the reported value is the resource, not the divisor.
  const detail = `only divisor's values ${kind.listed} are supported with the ${kind.name} resource`;
  return [invalid(childPath(path, 'divisor'), resource, detail)];
}

function divisorKind(
  resource: string,
): { readonly name: string; readonly listed: string; readonly divisors: readonly string[] } | undefined {
  const sizes = (name: string) => ({ name, listed: SIZE_DIVISORS.join(', '), divisors: SIZE_DIVISORS });
  if (isHugePages(resource)) return sizes('hugepages');
  if (!RESOURCES.includes(resource)) return undefined;
  if (resource.endsWith('.cpu')) return { name: 'cpu', listed: CPU_DIVISORS.join(' and '), divisors: CPU_DIVISORS };
  return sizes(resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage');
}

function isHugePages(resource: string): boolean {
  return resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-');
}
