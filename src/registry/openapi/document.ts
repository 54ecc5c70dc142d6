/**
 * The parts that OpenAPI documents of version 2 and 3 share: options, media types, references and extensions.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { Definitions } from './definitions.js';
import type { Content, Operation } from './operations.js';

const JSON_TYPE = 'application/json';

const YAML_TYPE = 'application/yaml';

export interface OpenApiOptions {
  readonly dialect: Dialect;
  /** The server version as in `/version`: `v1.33.1`. */
  readonly serverVersion: string;
  /** Whether the cluster serves CBOR. */
  readonly cbor?: boolean;
}

/** An OpenAPI document as JSON value. */
export type OpenApiDocument = Readonly<Record<string, unknown>>;

/** The description of a response by its code. */
export const RESPONSE_DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
};

/** A reference to the type of a request or response body. */
export function referenceTo(content: Content, definitions: Definitions): string {
  if (content.of === 'meta') return definitions.meta(content.type);
  return content.of === 'list' ? definitions.list(content.served) : definitions.kind(content.served);
}

/** The extensions that state the action of an operation and the kind it applies to. */
export function kindExtensions({ action, kind }: Operation, dialect: Dialect): object {
  return {
    ...(action === undefined ? {} : { [dialect.extension('action')]: action }),
    ...(kind === undefined
      ? {}
      : { [dialect.extension('group-version-kind')]: { group: kind.group, kind: kind.kind, version: kind.version } }),
  };
}

/** How clients authenticate. */
export const securityScheme = { type: 'apiKey', description: 'A bearer token.', name: 'authorization', in: 'header' };

/** The media types of responses. Custom resources have text encodings only. */
export function producedTypes({ encodings, streams }: Operation, { dialect, cbor }: OpenApiOptions): readonly string[] {
  const protobuf = dialect.mediaType('protobuf');
  switch (encodings) {
    case 'version':
      return [JSON_TYPE];
    case 'text':
      return [JSON_TYPE, YAML_TYPE];
    case 'discovery':
      return [JSON_TYPE, YAML_TYPE, protobuf];
    case 'all': {
      const plain = [JSON_TYPE, YAML_TYPE, protobuf, ...(cbor ? ['application/cbor'] : [])];
      const streamed = [
        `${JSON_TYPE};stream=watch`,
        `${protobuf};stream=watch`,
        ...(cbor ? ['application/cbor-seq'] : []),
      ];
      return streams ? [...plain, ...streamed] : plain;
    }
  }
}

/** The media types of request bodies. */
export function consumedTypes(operation: Operation, options: OpenApiOptions): readonly string[] {
  const { encodings, method, action } = operation;
  if (action === undefined) return producedTypes(operation, options);
  if (method !== 'patch') return encodings === 'text' ? [JSON_TYPE, YAML_TYPE] : ['*/*'];
  return [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(encodings === 'text' ? [] : ['application/strategic-merge-patch+json']),
    'application/apply-patch+yaml',
    ...(encodings === 'all' && options.cbor ? ['application/apply-patch+cbor'] : []),
  ];
}
