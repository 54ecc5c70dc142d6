/**
 * What the documents of both versions have in common.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { Definitions } from './definitions.js';
import type { Content, Operation } from './operations.js';

export interface OpenApiOptions {
  readonly dialect: Dialect;
  /** Of the server, as `/version` tells it: `v1.33.1`. */
  readonly serverVersion: string;
  /** Whether the cluster speaks CBOR, so that the documents name it. */
  readonly cbor?: boolean;
}

/** A document; JSON. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** What an answer is called by its code. */
export const ANSWERS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
};

/** A reference to what a request or an answer holds. */
export function referenceTo(content: Content, definitions: Definitions): string {
  if (content.of === 'meta') return definitions.meta(content.type);
  return content.of === 'list' ? definitions.list(content.served) : definitions.kind(content.served);
}

/** What an operation does, and to which kind. */
export function kindExtensions({ action, kind }: Operation, dialect: Dialect): object {
  return {
    ...(action === undefined ? {} : { [dialect.extension('action')]: action }),
    ...(kind === undefined
      ? {}
      : { [dialect.extension('group-version-kind')]: { group: kind.group, kind: kind.kind, version: kind.version } }),
  };
}

/** How clients tell who they are. */
export const securityScheme = { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' };
