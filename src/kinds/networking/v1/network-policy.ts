/**
 * The NetworkPolicy kind: the allowed traffic of the selected pods. Errors are in the reference server's order.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { childPath, forbidden, invalid, keyPath, required } from '../../../meta/field-error.js';
import { cidrWarnings, contains, parseCidrSloppy, validCidrProblems } from '../../../meta/ip.js';
import { labelSelectorFromObject, labelSelectorObjectErrors, printLabelSelector } from '../../../meta/labels.js';
import { portNameProblems } from '../../../meta/names.js';
import { hasSentEmpty } from '../../../schema/empty-values.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import type {
  IPBlock,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from '../../generated/networking-v1.js';
import { type NetworkPolicyKind, type NetworkPolicyObject, networkPolicyBase } from '../../generated/networking-v1.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../shared/common-columns.js';
import { portNumberProblems, valueErrors } from '../../shared/field-rules.js';
import { specGeneration } from '../../shared/strategies.js';

const POLICY_TYPES = ['Ingress', 'Egress'];

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];

export interface NetworkPolicy extends NetworkPolicyObject {}

export const NetworkPolicy: NetworkPolicyKind<NetworkPolicy> = defineBuiltIn({
  ...networkPolicyBase,
  names: { shortNames: ['netpol'] },
  strategy: {
    write: {
      // The reference server compares empty lists with absent ones here.
      generation: (next, live) => specGeneration(next, live) || hasSentEmpty(next.spec),
      warnings: (object) => networkPolicyWarnings(object.spec),
    },
    update: {
      metadataValidation: 'inValidate',
      // The reference server validates an update first as a new object and then as an update.
      validate: (next, _live, _context, metadata) => {
        const problems = networkPolicyProblems(next.spec);
        return [...metadata.forCreate(), ...problems, ...metadata.forUpdate(), ...problems];
      },
    },
    decode: { defaults: defaultPolicyTypes },
    create: { validate: (object) => networkPolicyProblems(object.spec) },
  },
  columns: [
    nameColumn,
    textColumn(
      'Pod-Selector',
      'The label selector of the pods that it applies to.',
      (object) => printLabelSelector(labelSelectorFromObject(object.spec.podSelector)) || NONE,
    ),
    ageColumn,
  ],
});

/** The default types are Ingress, and Egress if there are egress rules. */
function defaultPolicyTypes(draft: NetworkPolicy): void {
  const { spec } = draft;
  if (spec.policyTypes?.length) return;
  spec.policyTypes = spec.egress?.length ? ['Ingress', 'Egress'] : ['Ingress'];
}

/** Validates a spec. */
function networkPolicyProblems(spec: NetworkPolicySpec): FieldError[] {
  const found = labelSelectorObjectErrors(spec.podSelector, 'spec.podSelector');
  for (const { path, ports, peers, peersPath } of rulesOf(spec)) {
    ports.forEach((port, index) => {
      append(found, portProblems(keyPath(childPath(path, 'ports'), index), port));
    });
    peers.forEach((peer, index) => {
      append(found, peerProblems(keyPath(peersPath, index), peer));
    });
  }
  const { policyTypes = [] } = spec;
  if (policyTypes.length > POLICY_TYPES.length) {
    const shown = verbatim(`[]networking.PolicyType{${policyTypes.map(quote).join(', ')}}`);
    return [...found, invalid('spec.policyTypes', shown, 'may not specify more than two policyTypes')];
  }
  policyTypes.forEach((type, index) => {
    append(found, valueErrors(keyPath('spec.policyTypes', index), type, POLICY_TYPES));
  });
  return found;
}

/** Warnings about CIDRs of a spec. */
function networkPolicyWarnings(spec: NetworkPolicySpec): string[] {
  return rulesOf(spec).flatMap(({ peers, peersPath }) =>
    peers.flatMap(({ ipBlock }, index) => {
      if (ipBlock === undefined) return [];
      const path = childPath(keyPath(peersPath, index), 'ipBlock');
      const exceptPath = childPath(path, 'except');
      return [
        ...cidrWarnings(childPath(path, 'cidr'), ipBlock.cidr),
        ...(ipBlock.except ?? []).flatMap((cidr, at) => cidrWarnings(keyPath(exceptPath, at), cidr)),
      ];
    }),
  );
}

/** The rules of both directions, ingress first. */
function rulesOf({ ingress = [], egress = [] }: NetworkPolicySpec) {
  return [
    ...ingress.map(({ ports = [], from = [] }, index) => {
      const path = keyPath('spec.ingress', index);
      return { path, ports, peers: from, peersPath: childPath(path, 'from') };
    }),
    ...egress.map(({ ports = [], to = [] }, index) => {
      const path = keyPath('spec.egress', index);
      return { path, ports, peers: to, peersPath: childPath(path, 'to') };
    }),
  ];
}

function portProblems(path: string, { protocol, port, endPort }: NetworkPolicyPort): FieldError[] {
  const portPath = childPath(path, 'port');
  const endPath = childPath(path, 'endPort');
  const found: FieldError[] = [];
  append(found, valueErrors(childPath(path, 'protocol'), protocol, PROTOCOLS));
  if (typeof port === 'number') {
    append(found, portNumberProblems(portPath, port));
    if (endPort === undefined) return found;
    // The reference server reports the port and not endPort as the value.
    if (endPort < port) found.push(invalid(endPath, port, 'must be greater than or equal to `port`'));
    return [...found, ...portNumberProblems(endPath, endPort)];
  }
  if (endPort !== undefined) {
    const why = port === undefined ? 'not specified' : 'non-numeric';
    found.push(invalid(endPath, endPort, `may not be specified when \`port\` is ${why}`));
  }
  if (port === undefined) return found;
  return [...found, ...portNameProblems(port).map((detail) => invalid(portPath, port, detail))];
}

function peerProblems(path: string, { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer): FieldError[] {
  const found: FieldError[] = [];
  if (podSelector !== undefined) append(found, labelSelectorObjectErrors(podSelector, childPath(path, 'podSelector')));
  if (namespaceSelector !== undefined) {
    append(found, labelSelectorObjectErrors(namespaceSelector, childPath(path, 'namespaceSelector')));
  }
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock === undefined) return hasSelector ? found : [...found, required(path, 'must specify a peer')];
  append(found, ipBlockProblems(childPath(path, 'ipBlock'), ipBlock));
  if (hasSelector) found.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  return found;
}

function ipBlockProblems(path: string, { cidr: text, except = [] }: IPBlock): FieldError[] {
  const cidrPath = childPath(path, 'cidr');
  if (text === '') return [required(cidrPath)];
  const found = validCidrProblems(text).map((detail) => invalid(cidrPath, text, detail));
  const cidr = parseCidrSloppy(text);
  if (cidr === undefined) return found;
  except.forEach((part, index) => {
    const partPath = keyPath(childPath(path, 'except'), index);
    const inner = parseCidrSloppy(part);
    append(
      found,
      validCidrProblems(part).map((detail) => invalid(partPath, part, detail)),
    );
    if (inner !== undefined && (!contains(cidr, inner.network) || cidr.prefix >= inner.prefix)) {
      found.push(invalid(partPath, part, 'must be a strict subset of `cidr`'));
    }
  });
  return found;
}
