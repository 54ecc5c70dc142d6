/**
 * Removes features from the browser that not all browsers of 2023 have. It must run before all other scripts.
 * `Symbol.dispose` cannot be removed.
 */
export {};

const LATER: readonly (readonly [owner: object, ...names: PropertyKey[]])[] = [
  [globalThis, 'CompressionStream', 'DecompressionStream', 'Iterator', 'SuppressedError', 'DisposableStack'],
  [globalThis, 'scheduler', 'Float16Array', 'AsyncDisposableStack', 'setImmediate', 'URLPattern'],
  [AbortSignal, 'any', 'timeout'],
  [Array, 'fromAsync'],
  [Object, 'groupBy'],
  [Map, 'groupBy'],
  [Promise, 'withResolvers', 'try'],
  [RegExp, 'escape'],
  [Error, 'isError', 'captureStackTrace'],
  [Math, 'sumPrecise', 'f16round'],
  [JSON, 'rawJSON', 'isRawJSON'],
  [URL, 'canParse', 'parse'],
  [Response, 'json'],
  [ReadableStream, 'from'],
  [ReadableStream.prototype, Symbol.asyncIterator, 'values'],
  // Firefox has no streams as request bodies.
  [Request.prototype, 'body', 'bytes', 'duplex'],
  [Response.prototype, 'bytes'],
  [Uint8Array, 'fromBase64', 'fromHex'],
  [Uint8Array.prototype, 'toBase64', 'toHex', 'setFromBase64', 'setFromHex'],
  [ArrayBuffer.prototype, 'transfer', 'transferToFixedLength'],
  [String.prototype, 'isWellFormed', 'toWellFormed'],
  [Map.prototype, 'getOrInsert', 'getOrInsertComputed'],
  [Set.prototype, 'union', 'intersection', 'difference', 'symmetricDifference'],
  [Set.prototype, 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  // Iterator helpers.
  [
    Object.getPrototypeOf(Object.getPrototypeOf([].values())),
    ...['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find'],
  ],
];

for (const [owner, ...names] of LATER) {
  for (const name of names) if (!Reflect.deleteProperty(owner, name)) throw new Error(`${String(name)} stays`);
}
