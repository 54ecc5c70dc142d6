/**
 * Defaults of a pod spec that depend on other fields (independent defaults are part of the schemas), and iteration over
 * its containers. Some defaults apply to pods only: templates keep the given values.
 */
import { childPath, keyPath } from '../../../../meta/field-error.js';
import type { Container, EphemeralContainer, PodSpec, Volume } from '../../../generated/core-v1.js';
import { roundResourceList, withMissingResources } from '../../../shared/resources.js';
import { claimSpecDefaults } from '../claim-spec-rules.js';

// The grammar of image references, as far as needed to find the tag.
// upstream: github.com/distribution/reference regexp.go
const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const NAME = `(?:${HOST}(?::[0-9]+)?/)?${PATH_PART}(?:/${PATH_PART})*`;
const TAG = '[\\w][\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^(${NAME})(?::(${TAG}))?(?:@(${DIGEST}))?$`);

/** Sets the defaults of pods and templates in place. */
export function podSpecDefaults(spec: PodSpec): void {
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  for (const container of allContainers(spec)) containerDefaults(container);
  roundResourceList(spec.overhead);
  roundResourceList(spec.resources?.limits);
  roundResourceList(spec.resources?.requests);
  nameServiceAccount(spec);
}

/** Sets the defaults of pods in place, after {@link podSpecDefaults}. */
export function podOnlyDefaults(spec: PodSpec): void {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  for (const { resources } of containers) {
    if (resources.limits !== undefined) resources.requests = withMissingResources(resources.requests, resources.limits);
  }
  spec.enableServiceLinks ??= true;
  if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
  if (spec.hostNetwork !== true) return;
  for (const { ports = [] } of containers) {
    for (const port of ports) if (port.hostPort === undefined) port.hostPort = port.containerPort;
  }
}

/** The init containers, containers and ephemeral containers, in this order. */
export function allContainers(spec: PodSpec): (Container | EphemeralContainer)[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])];
}

export interface ContainerWithPath {
  /** For example `spec.containers[0]`. */
  readonly path: string;
  readonly container: Container | EphemeralContainer;
}

/** The same containers as {@link allContainers} with their paths; `path` is the path of the spec. */
export function containersWithPaths(path: string, spec: PodSpec): ContainerWithPath[] {
  return (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map((container, index) => ({ path: keyPath(childPath(path, list), index), container })),
  );
}

/** Copies `serviceAccountName` to its deprecated alias `serviceAccount`, or the alias to the name. */
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

/** Sets the defaults of one volume of a pod or a template in place. */
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
    // Rebuilt to keep the wire order of the fields.
    volume.scaleIO = { gateway, system, secretRef, ...rest };
  }
}

/** The tag of an image: `latest` without tag and digest; empty with a digest only or for an invalid image name. */
function imageTag(image: string): string {
  // A bare digest is not a valid image name.
  if (/^[a-f0-9]{64}$/.test(image)) return '';
  const match = REFERENCE.exec(image);
  if (match === null) return '';
  const [, name = '', tag, digest] = match;
  if (repositoryPath(name).length > MAX_REPOSITORY_LENGTH) return '';
  return tag ?? (digest === undefined ? 'latest' : '');
}

const MAX_REPOSITORY_LENGTH = 255;

/** The name of an image without its registry: `library/nginx` for `nginx`. */
function repositoryPath(name: string): string {
  const [first = '', ...rest] = name.split('/');
  const hasRegistry = rest.length > 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  const path = hasRegistry ? rest.join('/') : name;
  const isDefaultRegistry = !hasRegistry || first === 'docker.io' || first === 'index.docker.io';
  return isDefaultRegistry && !path.includes('/') ? `library/${path}` : path;
}
