/**
 * Built-in kinds, importable one by one so that a bundle carries only what it names; `builtInKinds` is all of them.
 */
import { Lease } from './coordination/v1/lease.js';
import { ConfigMap } from './core/v1/config-map.js';
import { Namespace } from './core/v1/namespace.js';
import { Secret } from './core/v1/secret.js';
import type { Kind } from './kind.js';

export type { LeaseInput, LeaseSpec, LeaseSpecInput } from './coordination/v1/lease.js';
export type { ConfigMapInput } from './core/v1/config-map.js';
export type {
  NamespaceInput,
  NamespaceSpec,
  NamespaceSpecInput,
  NamespaceStatus,
  NamespaceStatusInput,
} from './core/v1/namespace.js';
export type { SecretInput } from './core/v1/secret.js';
export { ConfigMap, Lease, Namespace, Secret };

/** Every built-in kind, in the order they are served. */
export const builtInKinds: readonly Kind[] = Object.freeze([ConfigMap, Namespace, Secret, Lease]);
