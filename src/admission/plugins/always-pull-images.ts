/**
 * Images are fetched anew for every pod, so that nobody runs what he has no right to fetch because somebody else did.
 */

import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import { errors } from '../../meta/errors.js';
import { type FieldError, notSupported, printFieldError } from '../../meta/field-error.js';
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest } from '../types.js';
import { type AnyRequest, isFor, kindsOf, refuse } from './requests.js';

const ALWAYS = 'Always';

export const alwaysPullImages: AdmissionPlugin = Object.freeze({
  name: 'AlwaysPullImages',
  looksAt: kindsOf(['', 'pods']),
  isBuiltIn: true,
  mutate,
  validate,
});

function mutate(request: AdmissionRequest<DraftObject>): void {
  const spec = specOf(request);
  if (spec === undefined) return;
  for (const container of allContainers(spec)) container.imagePullPolicy = ALWAYS;
  for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = ALWAYS;
}

/** Another plugin may have changed it back. */
function validate(request: AdmissionRequest): void {
  const spec = specOf(request);
  if (spec === undefined) return;
  const texts = new Set(problems(spec).map((problem) => refuse(request, printFieldError(problem)).message));
  if (texts.size === 0) return;
  // Refusals in a list are no refusal to the reference server, but a failure of its own.
  throw errors.plain(texts.size === 1 ? [...texts].join() : `[${[...texts].join(', ')}]`);
}

/** None where there is nothing to do: an update that brings no new image fetches none. */
function specOf(request: AnyRequest): PodSpec | undefined {
  if (!isFor(request, '', 'pods') || request.object === undefined) return undefined;
  const spec = request.object['spec'] as PodSpec;
  if (request.oldObject === undefined) return spec;
  const images = new Set(allContainers(request.oldObject['spec'] as PodSpec).map(({ image }) => image));
  return allContainers(spec).every(({ image }) => images.has(image)) ? undefined : spec;
}

function problems(spec: PodSpec): FieldError[] {
  return [
    ...(['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
      (spec[list] ?? []).flatMap(({ imagePullPolicy }, index) =>
        problemOf(`spec.${list}[${index}].imagePullPolicy`, imagePullPolicy),
      ),
    ),
    ...(spec.volumes ?? []).flatMap(({ image }, index) =>
      image === undefined ? [] : problemOf(`spec.volumes[${index}].image.pullPolicy`, image.pullPolicy),
    ),
  ];
}

function problemOf(path: string, policy: string | undefined): FieldError[] {
  return policy === ALWAYS ? [] : [notSupported(path, policy ?? '', [ALWAYS])];
}
