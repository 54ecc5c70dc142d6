/**
 * The access attributes of an API request: what the authorizer decides on.
 */

import { fieldRequirements, labelRequirements } from '../kinds/selector-requirements.js';
import { type FieldSelector, parseFieldSelector, requiresExactMatch } from '../meta/fields.js';
import { SelectorError } from '../meta/label-selector-text.js';
import { parseLabelSelector } from '../meta/labels.js';
import { pathSegmentProblems } from '../meta/names.js';
import type { ResourceAttributes } from '../protocol/access.js';
import type { ApiRequest } from '../protocol/request.js';
import { recoverFrom } from '../util/catch-error.js';

export function attributesOf(request: ApiRequest): ResourceAttributes {
  const { verb, resource, subresource = '', namespace = '', options } = request;
  const parts: ResourceParts = {
    verb,
    group: resource.group,
    version: resource.version,
    resource: resource.resource,
    subresource,
    namespace,
    name: isSingleObject(request) ? (request.name ?? '') : '',
  };
  const { fieldSelector, labelSelector } = options;
  const isSelective = verb === 'list' || verb === 'watch' || verb === 'deletecollection';
  if (!isSelective || (!fieldSelector && !labelSelector)) return resourceAttributes(parts);
  return resourceAttributes(parts, {
    ...(fieldSelector ? { fieldSelector } : {}),
    ...(labelSelector ? { labelSelector } : {}),
  });
}

/** Whether the request targets one object. For collections and creation, authorization ignores the name. */
function isSingleObject({ verb, subresource }: ApiRequest): boolean {
  if (subresource !== undefined) return true;
  return verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete';
}

type ResourceParts = Omit<ResourceAttributes, 'type' | 'fieldSelector' | 'labelSelector'>;

/** The namespace of a Namespace is itself; a list selected by one name is authorized for that name. */
export function resourceAttributes(
  parts: ResourceParts,
  selectors: { readonly fieldSelector?: string; readonly labelSelector?: string } = {},
): ResourceAttributes {
  const { verb, group, version, resource, subresource, name } = parts;
  const namespace = resource === 'namespaces' && parts.namespace === '' ? name : parts.namespace;
  const attributes = { type: 'resource', verb, group, version, resource, subresource, namespace, name } as const;
  const { fieldSelector, labelSelector } = selectors;
  if (!fieldSelector && !labelSelector) return attributes;
  const fields = fieldSelector ? parseOrUndefined(() => parseFieldSelector(fieldSelector)) : undefined;
  const labels = labelSelector ? parseOrUndefined(() => parseLabelSelector(labelSelector)) : undefined;
  return {
    ...attributes,
    name: name || (verb === 'deletecollection' ? '' : exactName(fields)),
    ...(fields === undefined ? {} : { fieldSelector: fieldRequirements(fields) }),
    ...(labels === undefined ? {} : { labelSelector: labelRequirements(labels) }),
  };
}

/** An invalid selector is ignored here; the request itself is rejected later. */
function parseOrUndefined<Selector>(parse: () => Selector): Selector | undefined {
  return recoverFrom<SelectorError, Selector | undefined>(SelectorError, parse, () => undefined);
}

function exactName(fields: FieldSelector | undefined): string {
  const name = fields === undefined ? undefined : requiresExactMatch(fields, 'metadata.name');
  return name !== undefined && pathSegmentProblems(name).length === 0 ? name : '';
}
