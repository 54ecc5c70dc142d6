/**
 * The rules of references from a pod to itself: to its fields, and to the resources of its containers. Volumes and
 * environment variables use them, each with the fields that it can show.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, invalid, notSupported, required } from '../../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import type { ObjectFieldSelector, ResourceFieldSelector } from './selectors.js';

/** Fields that a volume can show, in the order in which messages list them. */
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Fields there are at all. */
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

/** The problems at `path` (`….fieldRef`) of a reference to one of `allowed`, a sorted list of fields. */
export function fieldRefProblems(path: string, ref: ObjectFieldSelector, allowed: readonly string[]): FieldError[] {
  const { apiVersion, fieldPath } = ref;
  const at = childPath(path, 'fieldPath');
  if (apiVersion === '') return [required(childPath(path, 'apiVersion'))];
  if (fieldPath === '') return [required(at)];
  const cannot = (why: string) => [invalid(at, fieldPath, `error converting fieldPath: ${why}`)];
  if (apiVersion !== 'v1') return cannot(`unsupported pod version: ${apiVersion}`);
  const subscripted = splitSubscript(fieldPath);
  if (subscripted !== undefined) {
    const { field, key } = subscripted;
    if (field !== 'metadata.annotations' && field !== 'metadata.labels') {
      return cannot(`field label does not support subscript: ${fieldPath}`);
    }
    // Annotations may be written in capitals, labels may not.
    const name = field === 'metadata.annotations' ? key.toLowerCase() : key;
    return qualifiedNameProblems(name).map((problem) => invalid(path, name, problem));
  }
  // An old spelling, under which the field is not looked for any further.
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!FIELDS.includes(field)) return cannot(`field label not supported: ${fieldPath}`);
  return allowed.includes(field) ? [] : [notSupported(at, field, allowed)];
}

/** `metadata.labels['app']` → `metadata.labels` and `app`. */
function splitSubscript(fieldPath: string): { readonly field: string; readonly key: string } | undefined {
  if (!fieldPath.endsWith("']")) return undefined;
  const inner = fieldPath.slice(0, -2);
  const open = inner.indexOf("['");
  return open <= 0 ? undefined : { field: inner.slice(0, open), key: inner.slice(open + 2) };
}

/** The problems at `path` (`….resourceFieldRef`). A volume has no container of its own and must name one. */
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
  about: { readonly containerName: string; readonly resource: string; readonly inVolume: boolean },
): FieldError[] {
  const { containerName, resource, inVolume } = about;
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
  // The value shown is the resource, not the divisor.
  const detail = `only divisor's values ${kind.words} are supported with the ${kind.name} resource`;
  return [invalid(childPath(path, 'divisor'), resource, detail)];
}

function divisorKind(
  resource: string,
): { readonly name: string; readonly words: string; readonly divisors: readonly string[] } | undefined {
  const sizes = (name: string) => ({ name, words: SIZE_DIVISORS.join(', '), divisors: SIZE_DIVISORS });
  if (isHugePages(resource)) return sizes('hugepages');
  if (!RESOURCES.includes(resource)) return undefined;
  if (resource.endsWith('.cpu')) return { name: 'cpu', words: CPU_DIVISORS.join(' and '), divisors: CPU_DIVISORS };
  return sizes(resource.endsWith('.memory') ? 'memory' : 'local ephemeral storage');
}

function isHugePages(resource: string): boolean {
  return resource.startsWith('limits.hugepages-') || resource.startsWith('requests.hugepages-');
}
