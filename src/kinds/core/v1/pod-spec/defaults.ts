/**
 * Defaults of a pod's spec that depend on other fields; those that do not stand in the schemas. Some hold for pods
 * alone: a template keeps what it was given, and the pod made from it gets them.
 */
import { own } from '../../../../util/json.js';
import { byKey } from '../../../../util/order.js';
import { roundResourceList } from '../../../shared/round-resource-list.js';
import { claimSpecDefaults } from '../claim-spec-rules.js';
import type { Container, EphemeralContainer } from './container.js';
import type { PodSpec } from './pod-spec.js';
import type { Volume } from './volume.js';

/**
 * How an image is named, as far as its tag decides how often it is pulled.
 */

const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';

const HOST = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])`;

const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';

const NAME = `(?:${HOST}(?::[0-9]+)?/)?${PATH_PART}(?:/${PATH_PART})*`;

const TAG = '[\\w][\\w.-]{0,127}';

const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';

const REFERENCE = new RegExp(`^${NAME}(?::(${TAG}))?(?:@(${DIGEST}))?$`);

/** For pods and templates alike. Changes the spec. */
export function podSpecDefaults(spec: PodSpec): void {
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  for (const container of allContainers(spec)) containerDefaults(container);
  roundResourceList(spec.overhead);
  roundResourceList(spec.resources?.limits);
  roundResourceList(spec.resources?.requests);
  nameServiceAccount(spec);
}

/** For pods only, after {@link podSpecDefaults}. Changes the spec. */
export function podOnlyDefaults(spec: PodSpec): void {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const { resources } of containers) {
    if (resources.limits !== undefined) resources.requests = withDefaults(resources.requests, resources.limits);
  }
  spec.enableServiceLinks ??= true;
  if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  if (spec.hostNetwork !== true) return;
  for (const { ports = [] } of containers) {
    for (const port of ports) if (port.hostPort === undefined) port.hostPort = port.containerPort;
  }
}

/** All that run at some time, in the order in which they are looked at. */
export function allContainers(spec: PodSpec): (Container | EphemeralContainer)[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

/** The account has two names on the wire, the older of which follows the newer. */
export function nameServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function containerDefaults(container: Container | EphemeralContainer): void {
  container.imagePullPolicy ??= imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  roundResourceList(container.resources.limits);
  roundResourceList(container.resources.requests);
}

function withDefaults(
  requests: Record<string, string> | undefined,
  limits: Readonly<Record<string, string>>,
): Record<string, string> {
  const missing = Object.entries(limits).filter(([name]) => own(requests ?? {}, name) === undefined);
  const all = [...Object.entries(requests ?? {}), ...missing];
  return Object.fromEntries(all.sort(byKey));
}

/** Fills in one volume of a pod or of a pod template, in place. */
export function volumeDefaults(volume: Volume): void {
  const { ephemeral, image, scaleIO } = volume;
  if (Object.keys(volume).every((field) => field === 'name')) volume.emptyDir = {};
  if (image !== undefined) {
    image.pullPolicy ??= imageTag(image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent';
  }
  const claim = ephemeral?.volumeClaimTemplate?.spec;
  if (claim !== undefined) claimSpecDefaults(claim);
  if (scaleIO !== undefined && scaleIO.secretRef === undefined) {
    const { gateway, system, secretRef = null, ...rest } = scaleIO;
    // In its place on the wire.
    volume.scaleIO = { gateway, system, secretRef, ...rest };
  }
}

/** The tag in force: `latest` when neither tag nor digest is given; empty for what is no name of an image. */
function imageTag(image: string): string {
  // A bare digest is not taken for a name.
  if (/^[a-f0-9]{64}$/.test(image)) return '';
  const match = REFERENCE.exec(image);
  if (match === null) return '';
  const [, tag, digest] = match;
  return tag ?? (digest === undefined ? 'latest' : '');
}
