/**
 * Checks what callers pass, for JavaScript programs, which have no type checker.
 */
import { Quantity } from '../meta/quantity.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { NetworkOptions } from './network/network.js';
import type { Usage } from './program.js';
import type { RuntimeOptions } from './runtime.js';

const OPTIONS = [
  'images',
  'nodes',
  'hostPath',
  'maxVolumeBytes',
  'network',
  'metrics',
] as const satisfies readonly (keyof RuntimeOptions)[];

const NETWORK_OPTIONS = [
  'apiServer',
  'sockets',
  'externalFetch',
  'clusterDomain',
  'dialTimeoutMs',
] as const satisfies readonly (keyof NetworkOptions)[];

/** Throws TypeError if the options of `runtime` are not valid. */
export function checkRuntimeOptions(options: RuntimeOptions): void {
  if (!isRecord(options)) throw new TypeError('orchplane: runtime takes an object with its options: { images }');
  refuseUnknownOptions('runtime', options, OPTIONS);
  const { images, nodes, maxVolumeBytes = 0, network = {}, metrics = false } = options;
  if (!isRecord(images)) throw new TypeError('orchplane: runtime needs `images`: an object of programs by image name');
  for (const [name, image] of Object.entries(images)) checkImage(name, image);
  if (nodes !== undefined && !(Array.isArray(nodes) && nodes.every((name) => typeof name === 'string'))) {
    throw new TypeError('orchplane: `nodes` of runtime is a list of names');
  }
  if (!(typeof maxVolumeBytes === 'number' && maxVolumeBytes >= 0)) {
    throw new TypeError('orchplane: `maxVolumeBytes` of runtime is a number of bytes');
  }
  if (!isRecord(network)) throw new TypeError('orchplane: `network` of runtime is an object with options');
  refuseUnknownOptions('network of runtime', network, NETWORK_OPTIONS);
  if (typeof metrics !== 'boolean' && typeof metrics !== 'function') {
    throw new TypeError('orchplane: `metrics` of runtime is true, false or a function');
  }
}

function checkImage(name: string, image: unknown): void {
  const commands = isRecord(image) ? (image['commands'] ?? {}) : {};
  const isImage =
    typeof image === 'function' ||
    (isRecord(image) && (typeof image['run'] === 'function' || typeof image['start'] === 'function'));
  if (!isImage) {
    throw new TypeError(
      `orchplane: the image ${JSON.stringify(name)} of runtime is no program: it is a function, { run, commands } or an image of processImages`,
    );
  }
  const pullMs = isRecord(image) ? (image['pullMs'] ?? 0) : 0;
  if (!(Number(pullMs) >= 0)) {
    throw new TypeError(`orchplane: pullMs of the image ${JSON.stringify(name)} is a number of milliseconds`);
  }
  const wrong = isRecord(commands) && Object.entries(commands).find(([, command]) => typeof command !== 'function');
  if (!isRecord(commands) || wrong) {
    const what = wrong ? `the command ${JSON.stringify(wrong[0])}` : '`commands`';
    throw new TypeError(`orchplane: ${what} of the image ${JSON.stringify(name)} is not a function`);
  }
}

/** Throws TypeError if a program listens on something that is not a port, or without a function. */
export function checkListen(port: unknown, handler: unknown): void {
  if (!Number.isInteger(port) || Number(port) < 1 || Number(port) > 65_535) {
    throw new TypeError(`orchplane: listen takes a port between 1 and 65535, not ${String(port)}`);
  }
  if (typeof handler !== 'function') {
    throw new TypeError('orchplane: listen takes a function that answers requests as its second argument');
  }
}

/** Throws TypeError if an amount is not a quantity. */
export function checkUsage(usage: Usage): void {
  refuseUnknownOptions('use', usage, ['cpu', 'memory']);
  for (const [name, amount] of Object.entries(usage)) {
    if (amount === undefined || Quantity.tryParse(String(amount)).ok) continue;
    throw new TypeError(`orchplane: ${name} of use is a quantity such as "250m" or "64Mi", not ${String(amount)}`);
  }
}
