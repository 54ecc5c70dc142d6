/** A minimal cluster for testing one plugin: existing objects, permissions and a request. */
import type { AdmissionRequest, ClusterView, Operation } from '../../../src/admission/types.js';
import { type FeatureGates, featureGates } from '../../../src/kinds/feature-gates.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { type ServedKind, serveKind } from '../../../src/kinds/served-kind.js';
import { type Dialect, kubernetesDialect } from '../../../src/meta/dialect.js';
import type { ApiObject, DraftObject } from '../../../src/meta/object.js';
import { allowAll, type ClusterAuthorizer } from '../../../src/protocol/access.js';
import type { User } from '../../../src/protocol/request.js';
import { type Clock, systemClock } from '../../../src/util/clock.js';
import type { Ids } from '../../../src/util/ids.js';

/** An object with only the fields that a test needs. */
export type Sketch = Readonly<Record<string, unknown>>;

export interface FakeOptions {
  /** By group (canonical) and plural: `apps/deployments`, `/pods`. */
  readonly objects?: Readonly<Record<string, readonly Sketch[]>>;
  readonly dialect?: Dialect;
  readonly features?: FeatureGates;
  readonly access?: ClusterAuthorizer;
  readonly clock?: Clock;
  readonly kinds?: readonly Kind[];
}

export interface FakeView extends ClusterView {
  /** Objects created without running admission. */
  readonly created: DraftObject[];
}

export function fakeView(options: FakeOptions = {}): FakeView {
  const { objects = {}, dialect = kubernetesDialect, kinds = [] } = options;
  const list: ClusterView['list'] = ({ group, resource }, namespace) =>
    ((objects[`${group}/${resource}`] ?? []) as readonly ApiObject[]).filter(
      ({ metadata }) => namespace === undefined || (metadata.namespace ?? '') === namespace,
    );
  const get: ClusterView['get'] = ({ namespace, name, ...resource }) =>
    list(resource, namespace).find(({ metadata }) => metadata.name === name);
  const served = kinds.map((kind) => serveKind(kind, dialect));
  const created: DraftObject[] = [];
  return {
    dialect,
    features: options.features ?? featureGates(),
    clock: options.clock ?? systemClock,
    access: options.access ?? allowAll,
    authorize: (user, attributes) => (options.access ?? allowAll).decide(user, attributes),
    ids,
    externalCalls: undefined as never,
    created,
    list,
    get,
    namespace: (name) => get({ group: '', resource: 'namespaces', namespace: '', name }),
    lastChange: () => 0,
    kindNamed: ({ group, version, kind }) =>
      served.find(({ gvk }) => gvk.group === group && gvk.version === version && gvk.kind === kind),
    resourceNamed: () => unexpected('resourceNamed'),
    versionsOf: () => unexpected('versionsOf'),
    convert: () => unexpected('convert'),
    change: () => unexpected('change'),
    changeParts: () => unexpected('changeParts'),
    create: (_, draft) => {
      created.push(draft);
      return draft as unknown as ApiObject;
    },
  };
}

const ids: Ids = { uid: () => 'uid', suffix: (length) => 'abcdefgh'.slice(0, length), random: () => 0 };

function unexpected(what: string): never {
  throw new Error(`the plugin requested ${what}`);
}

export interface FakeRequest {
  readonly kind: Kind;
  readonly operation?: Operation;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly object?: Sketch;
  readonly oldObject?: Sketch;
  readonly user?: User;
  readonly dryRun?: boolean;
  readonly dialect?: Dialect;
}

export interface AskedRequest extends AdmissionRequest<DraftObject> {
  /** The annotations of the audit event. */
  readonly notes: Record<string, string>;
}

/** Typed as a draft; validating plugins receive {@link finished} of it. */
export function fakeRequest(about: FakeRequest): AskedRequest {
  const { kind, operation = 'CREATE', subresource = '', object, oldObject, dialect = kubernetesDialect } = about;
  const served: ServedKind = serveKind(kind, dialect);
  const metadata = (object ?? oldObject)?.['metadata'] as
    | { readonly name?: string; readonly namespace?: string; readonly generateName?: string }
    | undefined;
  const sentName = about.name ?? metadata?.name ?? '';
  const notes: Record<string, string> = {};
  return {
    operation,
    served,
    subresource,
    namespace: about.namespace ?? metadata?.namespace ?? '',
    name: sentName || (metadata?.generateName ?? ''),
    sentName,
    object: object as DraftObject | undefined,
    oldObject: oldObject as ApiObject | undefined,
    dryRun: about.dryRun ?? false,
    user: about.user ?? { user: 'admin', groups: ['system:masters'] },
    objectKind: served.gvk,
    options: {},
    warnings: [],
    rounds: { round: 0, requestReinvocation: () => unexpected('another round'), pluginState: new Map() },
    notes,
    annotate(key, value) {
      notes[key] ??= value;
    },
    beforeCommit: () => unexpected('beforeCommit'),
    normalize: () => unexpected('normalize'),
  };
}

export function finished(request: AskedRequest): AdmissionRequest {
  return request as unknown as AdmissionRequest;
}
