/**
 * Lines to containers, nodes and services. The reference server hands them on to what runs there; here nothing runs, and
 * every line ends with the reason that it would give, or with ours.
 */
import { errors, failure, type StatusError } from '../../../meta/errors.js';
import type { ApiObject } from '../../../meta/object.js';
import type { Connection } from '../../kind.js';

interface Located {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: { readonly addresses?: readonly { readonly type: string; readonly address: string }[] };
}

function located(object: ApiObject): Located {
  return object as unknown as Located;
}

function nobodyThere(what: string): StatusError {
  return failure({
    code: 500,
    message: `orchplane runs no ${what}, so there is nothing to connect to (see docs/fidelity.md)`,
  });
}

/** A line to a container needs a node first. */
function toContainer(pod: ApiObject): StatusError {
  const { spec } = located(pod);
  if ((spec?.nodeName ?? '') === '') {
    return errors.badRequest(`pod ${pod.metadata.name} does not have a host assigned`);
  }
  return nobodyThere('containers');
}

export const podConnections: Readonly<Record<string, Connection>> = {
  attach: { verbs: ['create', 'get'], optionsKind: 'PodAttachOptions', refuse: toContainer },
  exec: { verbs: ['create', 'get'], optionsKind: 'PodExecOptions', refuse: toContainer },
  // A pod that was never placed has said nothing yet.
  log: {
    verbs: ['get'],
    optionsKind: 'Pod',
    refuse: (pod) => ((located(pod).spec?.nodeName ?? '') === '' ? undefined : nobodyThere('containers')),
  },
  portforward: { verbs: ['create', 'get'], optionsKind: 'PodPortForwardOptions', refuse: toContainer },
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'PodProxyOptions',
    deeper: true,
    refuse: () => nobodyThere('containers'),
  },
};

export const nodeConnections: Readonly<Record<string, Connection>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'NodeProxyOptions',
    deeper: true,
    refuse(node) {
      const known = located(node).status?.addresses ?? [];
      if (known.length > 0) return nobodyThere('nodes');
      return failure({ code: 500, message: 'no preferred addresses found; known addresses: []' });
    },
  },
};

export const serviceConnections: Readonly<Record<string, Connection>> = {
  proxy: {
    verbs: ['create', 'delete', 'get', 'patch', 'update'],
    optionsKind: 'ServiceProxyOptions',
    deeper: true,
    refuse: (service) => errors.serviceUnavailable(`no endpoints available for service "${service.metadata.name}"`),
  },
};
