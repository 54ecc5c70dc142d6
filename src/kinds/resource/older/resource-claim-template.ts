/**
 * ResourceClaimTemplate in the older versions, whose requests are flat.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { flatTemplateSpec } from '../schema/claim.js';
import { ResourceClaimTemplate, templateStrategy } from '../v1beta2/resource-claim-template.js';
import type { Version, VersionedInput, VersionedOutput } from '../versions.js';
import { inStoredForm, templateFromStored, templateToStored } from './conversion.js';

const shape = (version: Version) => ({ spec: flatTemplateSpec(version) });
export interface ResourceClaimTemplateV1beta1 extends ObjectBase, VersionedOutput<typeof shape> {}
export interface ResourceClaimTemplateV1beta1Input extends InputBase, VersionedInput<typeof shape> {}
export interface ResourceClaimTemplateV1alpha3 extends ResourceClaimTemplateV1beta1 {}
export interface ResourceClaimTemplateV1alpha3Input extends ResourceClaimTemplateV1beta1Input {}

export const ResourceClaimTemplateV1beta1: Kind<
  ResourceClaimTemplateV1beta1,
  ResourceClaimTemplateV1beta1Input,
  'Namespaced',
  never
> = anotherVersion(ResourceClaimTemplate, {
  apiVersion: `${serviceGroup('resource')}/v1beta1`,
  lifecycle: { introducedIn: '1.32' },
  body: () => shape('v1beta1'),
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(inStoredForm(templateToStored)),
});

export const ResourceClaimTemplateV1alpha3: Kind<
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1alpha3Input,
  'Namespaced',
  never
> = anotherVersion(ResourceClaimTemplate, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: () => shape('v1alpha3'),
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(inStoredForm(templateToStored)),
});
