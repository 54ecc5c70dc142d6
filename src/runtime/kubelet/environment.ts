/**
 * The environment variables of a container.
 * upstream: pkg/kubelet/kubelet_pods.go makeEnvironmentVariables, pkg/kubelet/envvars/envvars.go FromServices
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { own, setOwn } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ContainerSpec } from '../program.js';
import { expanded, TextBudget, type Variables } from './expansion.js';
import { configMapData, fieldValue, type KeyedData, resourceValue, SetupError, secretData } from './references.js';

export interface EnvironmentOptions {
  readonly pod: StoredPod;
  readonly container: ContainerSpec;
  readonly podIPs: readonly string[];
  /** The allocatable resources of the node. */
  readonly allocatable: Readonly<Record<string, string>>;
  readonly budget: TextBudget;
}

type Variable = NonNullable<ContainerSpec['env']>[number];
type Source = NonNullable<ContainerSpec['envFrom']>[number];

/** Throws SetupError if a ConfigMap, a Secret or a key is missing. */
export function environmentOf(
  context: Pick<ControllerContext, 'informer'>,
  options: EnvironmentOptions,
): Record<string, string> {
  const { pod, container, budget } = options;
  const namespace = pod.metadata.namespace ?? '';
  const sources = (container.envFrom ?? []).map((source) => variablesFrom(context, namespace, source));
  // Counted before they are collected: a container that is refused may be tried again and again.
  for (const { prefix, variables } of sources) budget.takeVariables(prefix, variables);
  const services = serviceVariables(context, options);
  const result: Record<string, string> = {};
  for (const { prefix, variables } of sources) {
    for (const [key, value] of variables.entries) setOwn(result, prefix + key, value);
  }
  // Variables can use those before them and those of services.
  const known = (name: string): string | undefined => own(result, name) ?? own(services, name);
  for (const variable of container.env ?? []) {
    const value = variableValue(context, variable, options, known);
    if (value !== undefined) setOwn(result, variable.name, budget.takeVariable(variable.name, value));
  }
  const defaults = { PATH: DEFAULT_PATH, HOSTNAME: pod.spec.hostname ?? pod.metadata.name };
  return { ...defaults, ...services, ...result };
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function variablesFrom(
  context: Pick<ControllerContext, 'informer'>,
  namespace: string,
  { prefix = '', configMapRef, secretRef }: Source,
): { readonly prefix: string; readonly variables: Variables } {
  const { name = '', optional = false } = configMapRef ?? secretRef ?? {};
  const data =
    configMapRef === undefined ? secretData(context, namespace, name) : configMapData(context, namespace, name);
  if (data === undefined) {
    if (optional) return { prefix, variables: NO_VARIABLES };
    throw notFound(configMapRef === undefined ? 'secret' : 'configmap', name);
  }
  return { prefix, variables: getOrInsertComputed(variablesOfData, data, variablesIn) };
}

const NO_VARIABLES: Variables = { entries: [], length: 0 };
/** Shared by the containers that use the ConfigMap or Secret, with all prefixes. */
const variablesOfData = new WeakMap<KeyedData, Variables>();

function variablesIn(data: KeyedData): Variables {
  // `=` cannot be part of a variable's name.
  const entries = [...data].flatMap(([key, bytes]) => (key.includes('=') ? [] : [[key, textOf(bytes)] as const]));
  return { entries, length: entries.reduce((sum, [key, value]) => sum + key.length + value.length, 0) };
}

/** Undefined: an optional key that does not exist. */
function variableValue(
  context: Pick<ControllerContext, 'informer'>,
  { value = '', valueFrom }: Variable,
  { pod, container, podIPs, allocatable }: EnvironmentOptions,
  known: (name: string) => string | undefined,
): string | undefined {
  if (valueFrom === undefined) return expanded(value, known, new TextBudget());
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef !== undefined) return fieldValue(pod, fieldRef.fieldPath, podIPs);
  if (resourceFieldRef !== undefined) return resourceValue(pod, resourceFieldRef, container.name, allocatable);
  const namespace = pod.metadata.namespace ?? '';
  const [kind, ref] =
    configMapKeyRef === undefined ? (['Secret', secretKeyRef] as const) : (['ConfigMap', configMapKeyRef] as const);
  if (ref === undefined) return '';
  const { name = '', key, optional = false } = ref;
  const read: typeof configMapData = kind === 'Secret' ? secretData : configMapData;
  const data: KeyedData | undefined = read(context, namespace, name);
  const bytes = data?.get(key);
  if (bytes !== undefined) return textOf(bytes);
  if (optional) return undefined;
  if (data === undefined) throw notFound(kind.toLowerCase(), name);
  throw new SetupError(`couldn't find key ${key} in ${kind} ${namespace}/${name}`);
}

function notFound(resource: string, name: string): SetupError {
  return new SetupError(`${resource} ${JSON.stringify(name)} not found`);
}

/** The variables of the services of the namespace, and of the API server. */
function serviceVariables(
  { informer }: Pick<ControllerContext, 'informer'>,
  { pod: { metadata, spec }, budget }: EnvironmentOptions,
): Record<string, string> {
  const services = informer(Service);
  const linked = (spec.enableServiceLinks ?? true) ? services.list(metadata.namespace ?? '') : [];
  const master = services.get('kubernetes', 'default');
  const all = master === undefined ? linked : [...linked.filter((each) => each !== master), master];
  const result: Record<string, string> = {};
  for (const service of all) {
    const variables = getOrInsertComputed(variablesOfServices, service, (each) => [...variablesOf(each)]);
    for (const [name, value] of variables) result[name] = budget.takeVariable(name, value);
  }
  return result;
}

/** Shared by the containers of the namespace. */
const variablesOfServices = new WeakMap<
  ObjectOf<typeof Service>,
  readonly (readonly [name: string, value: string])[]
>();

function* variablesOf({ metadata, spec }: ObjectOf<typeof Service>): Iterable<readonly [name: string, value: string]> {
  const { clusterIP: ip, ports = [] } = spec;
  const [first] = ports;
  if (ip === undefined || ip === '' || ip === 'None' || first === undefined) return;
  const name = variableName(metadata.name);
  const host = ip.includes(':') ? `[${ip}]` : ip;
  yield [`${name}_SERVICE_HOST`, ip];
  yield [`${name}_SERVICE_PORT`, String(first.port)];
  yield [`${name}_PORT`, `${protocolOf(first)}://${host}:${first.port}`];
  for (const { name: portName, port } of ports) {
    if (portName) yield [`${name}_SERVICE_PORT_${variableName(portName)}`, String(port)];
  }
  for (const port of ports) {
    const protocol = protocolOf(port);
    const prefix = `${name}_PORT_${port.port}_${protocol.toUpperCase()}`;
    yield [prefix, `${protocol}://${host}:${port.port}`];
    yield [`${prefix}_PROTO`, protocol];
    yield [`${prefix}_PORT`, String(port.port)];
    yield [`${prefix}_ADDR`, ip];
  }
}

function protocolOf({ protocol = 'TCP' }: { readonly protocol?: string | undefined }): string {
  return protocol.toLowerCase();
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}

const decoder = new TextDecoder();
/** Shared by the containers that use the value. */
const texts = new WeakMap<Uint8Array, string>();

function textOf(bytes: Uint8Array): string {
  return getOrInsertComputed(texts, bytes, () => decoder.decode(bytes));
}
