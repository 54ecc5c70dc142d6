/**
 * One write on its way through the steps: what was asked, of whom, with which options, and what to tell the client
 * beside the answer.
 */

import { ADMINISTRATOR } from '../auth/identity.js';
import type { WriteContext } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiRequest, User } from '../protocol/request.js';
import type { ServerContext } from './context.js';
import { writeContext } from './context.js';

export interface WriteOperation {
  readonly server: ServerContext;
  readonly request: ApiRequest;
  readonly served: ServedKind;
  readonly dryRun: boolean;
  readonly user: User;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  /** Time and names, for the kind's strategy. */
  readonly context: WriteContext;
  /** In order; repeats are dropped when the answer is made. */
  readonly warnings: string[];
  /** What plugins want to be done in the instant of the commit. */
  readonly effects: (() => void)[];
  /** The options of a delete, as plugins see them. */
  readonly deletion: Readonly<Record<string, unknown>> | undefined;
  /** One object of many that are deleted together: plugins are asked about the collection. */
  readonly isCollectionDelete: boolean;
}

/** Whether another write may come in between: a plugin, or a conversion, may make this one wait. */
export function mayRace({ server, served }: WriteOperation): boolean {
  return server.pluginsMayWait(served) || served.kind.custom?.mayWait === true;
}

export function startWrite(
  context: ServerContext,
  request: ApiRequest,
  about: {
    readonly served: ServedKind;
    readonly dryRun: boolean;
    readonly warnings?: readonly string[];
    readonly deletion?: Readonly<Record<string, unknown>>;
    readonly isCollective?: boolean;
  },
): WriteOperation {
  const { served, dryRun, warnings, deletion, isCollective } = about;
  return {
    server: context,
    request,
    served,
    dryRun,
    user: request.user ?? ADMINISTRATOR,
    namespace: served.namespaced ? (request.namespace ?? '') : '',
    context: writeContext(context),
    warnings: warnings === undefined ? [] : [...warnings],
    effects: [],
    deletion,
    isCollectionDelete: isCollective === true,
  };
}
