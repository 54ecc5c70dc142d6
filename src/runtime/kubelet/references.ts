/**
 * Objects and fields that environment variables and volumes refer to: ConfigMaps, Secrets, fields of the pod and resources
 * of its containers.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { ConfigMap } from '../../kinds/core/v1/config-map.js';
import { Secret } from '../../kinds/core/v1/secret.js';
import { Quantity } from '../../meta/quantity.js';
import { decodeBase64 } from '../../util/base64.js';
import { own } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';

/** A container or volume cannot be set up yet. The message is part of Events and of the status. */
export class SetupError extends Error {}

/** The data of ConfigMaps and Secrets, as bytes by key. */
export type KeyedData = ReadonlyMap<string, Uint8Array>;

type Informers = Pick<ControllerContext, 'informer'>;

/** Undefined: the ConfigMap does not exist. */
export function configMapData({ informer }: Informers, namespace: string, name: string): KeyedData | undefined {
  const found = informer(ConfigMap).get(name, namespace);
  return (
    found &&
    getOrInsertComputed(decoded, found, () => {
      const data = new Map<string, Uint8Array>();
      for (const [key, text] of Object.entries(found.data ?? {})) data.set(key, new TextEncoder().encode(text));
      for (const [key, text] of Object.entries(found.binaryData ?? {})) data.set(key, decodeBase64(text));
      return data;
    })
  );
}

/** By object: a pod may refer to the same one thousands of times. */
const decoded = new WeakMap<object, KeyedData>();

/** Undefined: the Secret does not exist. */
export function secretData({ informer }: Informers, namespace: string, name: string): KeyedData | undefined {
  const found = informer(Secret).get(name, namespace);
  return (
    found &&
    getOrInsertComputed(
      decoded,
      found,
      () => new Map(Object.entries(found.data ?? {}).map(([key, text]) => [key, decodeBase64(text)])),
    )
  );
}

/** The value of a downward API field. Addresses are empty until the pod has them. */
export function fieldValue(pod: StoredPod, fieldPath: string, podIPs: readonly string[]): string {
  const { metadata, spec, status } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (subscript !== null) {
    const values = (subscript[1] === 'labels' ? metadata.labels : metadata.annotations) ?? {};
    return own(values, subscript[2] ?? '') ?? '';
  }
  const hostIP = status.hostIP ?? '';
  const values: Readonly<Record<string, () => string>> = {
    'metadata.name': () => metadata.name,
    'metadata.namespace': () => metadata.namespace ?? '',
    'metadata.uid': () => metadata.uid,
    'metadata.labels': () => mapText(metadata.labels),
    'metadata.annotations': () => mapText(metadata.annotations),
    'spec.nodeName': () => spec.nodeName ?? '',
    'spec.host': () => spec.nodeName ?? '',
    'spec.serviceAccountName': () => spec.serviceAccountName ?? '',
    'status.hostIP': () => hostIP,
    'status.hostIPs': () => (status.hostIPs ?? [{ ip: hostIP }]).map(({ ip }) => ip).join(','),
    'status.podIP': () => podIPs[0] ?? '',
    'status.podIPs': () => podIPs.join(','),
  };
  const value = own(values, fieldPath);
  if (value === undefined) throw new SetupError(`unsupported fieldPath: ${fieldPath}`);
  return value();
}

/** `key="value"` lines, sorted, as in a downward API volume. */
function mapText(values: Readonly<Record<string, string>> = {}): string {
  const lines = Object.keys(values).sort();
  return lines.map((key) => `${key}=${JSON.stringify(values[key])}`).join('\n');
}

interface ResourceRef {
  readonly containerName?: string | undefined;
  readonly resource: string;
  readonly divisor?: string | undefined;
}

/**
 * The amount of a container's resource, divided and rounded up. An absent limit is the node's allocatable amount.
 * upstream: pkg/api/v1/resource/helpers.go ExtractContainerResourceValue
 */
export function resourceValue(
  pod: StoredPod,
  ref: ResourceRef,
  containerName: string,
  allocatable: Readonly<Record<string, string>>,
): string {
  const name = ref.containerName || containerName;
  const container = getOrInsertComputed(containersByName, pod.spec, containersOf).get(name);
  if (container === undefined) throw new SetupError(`container ${name} not found`);
  const [list, ...rest] = ref.resource.split('.');
  const resource = rest.join('.');
  const { requests = {}, limits = {} } = container.resources ?? {};
  const limit = own(limits, resource) ?? own(allocatable, resource);
  const amount = list === 'limits' ? limit : own(requests, resource);
  return divided(Quantity.parse(amount ?? '0'), Quantity.parse(ref.divisor || '1'), resource);
}

type Container = StoredPod['spec']['containers'][number];

/** A pod may refer to its containers thousands of times. */
const containersByName = new WeakMap<StoredPod['spec'], ReadonlyMap<string, Container>>();

function containersOf({ containers, initContainers = [] }: StoredPod['spec']): ReadonlyMap<string, Container> {
  return new Map([...initContainers, ...containers].map((container) => [container.name, container]));
}

function divided(amount: Quantity, divisor: Quantity, resource: string): string {
  const by = divisor.isZero() ? Quantity.parse('1') : divisor;
  const [numerator, denominator] =
    resource === 'cpu' ? [amount.milliValue(), by.milliValue()] : [amount.value(), by.value()];
  return String((numerator + denominator - 1n) / denominator);
}
