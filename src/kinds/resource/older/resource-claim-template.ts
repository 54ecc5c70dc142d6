/**
 * ResourceClaimTemplate in v1beta1 and v1alpha3, where exact requests have no `exactly` field.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { anotherVersion, type InputBase, type ObjectBase } from '../../define-kind.js';
import { resourceClaimTemplateBody } from '../../generated/resource-v1alpha3.js';
import {
  type ResourceClaimTemplateV1beta1Body,
  type ResourceClaimTemplateV1beta1BodyInput,
  resourceClaimTemplateV1beta1Body,
} from '../../generated/resource-v1beta1.js';
import type { Kind } from '../../kind.js';
import { ResourceClaimTemplate, templateStrategy } from '../v1beta2/resource-claim-template.js';
import { storedCopy, templateFromStored, templateToStored } from './conversion.js';

export interface ResourceClaimTemplateV1beta1 extends ObjectBase, ResourceClaimTemplateV1beta1Body {}
export interface ResourceClaimTemplateV1beta1Input extends InputBase, ResourceClaimTemplateV1beta1BodyInput {}
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
  body: resourceClaimTemplateV1beta1Body,
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(storedCopy<ResourceClaimTemplate>(templateToStored)),
});

export const ResourceClaimTemplateV1alpha3: Kind<
  ResourceClaimTemplateV1alpha3,
  ResourceClaimTemplateV1alpha3Input,
  'Namespaced',
  never
> = anotherVersion(ResourceClaimTemplate, {
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  lifecycle: { introducedIn: '1.31' },
  body: resourceClaimTemplateBody,
  toStored: templateToStored,
  fromStored: templateFromStored,
  strategy: templateStrategy(storedCopy<ResourceClaimTemplate>(templateToStored)),
});
