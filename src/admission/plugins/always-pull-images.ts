/**
 * The AlwaysPullImages plugin: every pod pulls its images, so that a user without pull access cannot run an image that
 * another user's pod left on the node.
 */

import { allContainers } from '../../kinds/core/v1/pod-spec/defaults.js';
import type { PodSpec } from '../../kinds/generated/core-v1.js';
import { errors } from '../../meta/errors.js';
import { aggregateText, type FieldError, notSupported, printFieldError } from '../../meta/field-error.js';
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionRequest } from '../types.js';
import { type AnyRequest, forbiddenError, podPlugin, podSpecOf } from './requests.js';

const ALWAYS = 'Always';

export const alwaysPullImages = /* @__PURE__ */ podPlugin('AlwaysPullImages', { mutate, validate });

function mutate(request: AdmissionRequest<DraftObject>): void {
  const spec = specOf(request);
  if (spec === undefined) return;
  for (const container of allContainers(spec)) container.imagePullPolicy = ALWAYS;
  for (const { image } of spec.volumes ?? []) if (image !== undefined) image.pullPolicy = ALWAYS;
}

/** Other plugins may have changed the policy after `mutate`. */
function validate(request: AdmissionRequest): void {
  const spec = specOf(request);
  if (spec === undefined) return;
  const texts = problems(spec).map((problem) => forbiddenError(request, printFieldError(problem)).message);
  // The reference server returns an aggregate of Forbidden errors, which clients see as a plain error.
  // upstream: plugin/pkg/admission/alwayspullimages/admission.go AlwaysPullImages.Validate
  if (texts.length > 0) throw errors.plain(aggregateText(texts));
}

/** Undefined for updates that add no new image. */
function specOf(request: AnyRequest): PodSpec | undefined {
  const spec = podSpecOf(request);
  if (spec === undefined || request.oldObject === undefined) return spec;
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
