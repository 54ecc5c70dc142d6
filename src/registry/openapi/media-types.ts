/**
 * The encodings that operations name: the service's own kinds speak all of them, users' kinds only those of text.
 */
import type { OpenApiOptions } from './document.js';
import type { Operation } from './operations.js';

const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';

/** What an operation answers in. */
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

/** What an operation takes its body in. */
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
