/**
 * The question that a request asks of the authorizer.
 */

import { fieldRequirements, labelRequirements } from '../kinds/selector-requirements.js';
import { type FieldSelector, parseFieldSelector, requiresExactMatch } from '../meta/fields.js';
import { SelectorError } from '../meta/label-selector-text.js';
import { parseLabelSelector } from '../meta/labels.js';
import { pathSegmentProblems } from '../meta/names.js';
import type { ResourceAttributes } from '../protocol/access.js';
import type { ApiRequest } from '../protocol/request.js';

/** What a request asks for, as rules see it. */
export function attributesOf(request: ApiRequest): ResourceAttributes {
  const { verb, resource, subresource = '', namespace = '', options } = request;
  const about: ResourceParts = {
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    subresource,
    namespace,
    name: isOfOne(request) ? (request.name ?? '') : '',
  };
  const { fieldSelector, labelSelector } = options;
  const isSelective = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  if (!isSelective || (!fieldSelector && !labelSelector)) return resourceAttributes(about);
  return resourceAttributes(about, {
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(labelSelector ? { labelSelector } : {}),
  });
}

/** A name beside a request for a whole collection, or for an object that is yet to have one, narrows nothing. */
function isOfOne({ verb, subresource }: ApiRequest): boolean {
  if (subresource !== undefined) return true;
  return verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
}

type ResourceParts = Omit<ResourceAttributes, 'type' | 'fieldSelector' | 'labelSelector'>;

/** A namespace is a thing in itself; and a list of one name is about that name. */
export function resourceAttributes(
  parts: ResourceParts,
  selectors: { readonly fieldSelector?: string; readonly labelSelector?: string } = {},
): ResourceAttributes {
  const { verb, group, version, resource, subresource, name } = parts;
  const namespace = resource === 'namespaces' && parts.namespace === '' ? name : parts.namespace;
  const attributes = { type: 'resource', verb, group, version, resource, subresource, namespace, name } as const;
  const { fieldSelector, labelSelector } = selectors;
  if (!fieldSelector && !labelSelector) return attributes;
  const fields = fieldSelector ? readable(() => parseFieldSelector(fieldSelector)) : undefined;
  const labels = labelSelector ? readable(() => parseLabelSelector(labelSelector)) : undefined;
  return {
    ...attributes,
    name: name || (verb === 'deletecollection' ? '' : exactName(fields)),
    ...(fields === undefined ? {} : { fieldSelector: fieldRequirements(fields) }),
    ...(labels === undefined ? {} : { labelSelector: labelRequirements(labels) }),
  };
}

/** What cannot be read narrows nothing here, and is refused by whoever has to select by it. */
function readable<Selector>(parse: () => Selector): Selector | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

function exactName(fields: FieldSelector | undefined): string {
  const name = fields === undefined ? undefined : requiresExactMatch(fields, 'metadata.name');
  return name !== undefined && pathSegmentProblems(name).length === 0 ? name : '';
}
