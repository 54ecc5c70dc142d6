/**
 * Run before everything else, it makes a browser one of the year 2023, or worse: what came later, or came to one of the
 * others only, is gone. `Symbol.dispose` cannot be taken away.
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
  // A request's body is no stream in Firefox.
  [Request.prototype, 'body', 'bytes', 'duplex'],
  [Response.prototype, 'bytes'],
  [Uint8Array, 'fromBase64', 'fromHex'],
  [Uint8Array.prototype, 'toBase64', 'toHex', 'setFromBase64', 'setFromHex'],
  [ArrayBuffer.prototype, 'transfer', 'transferToFixedLength'],
  [String.prototype, 'isWellFormed', 'toWellFormed'],
  [Map.prototype, 'getOrInsert', 'getOrInsertComputed'],
  [Set.prototype, 'union', 'intersection', 'difference', 'symmetricDifference'],
  [Set.prototype, 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  // What iterators can do besides being iterated.
  [
    Object.getPrototypeOf(Object.getPrototypeOf([].values())),
    ...['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find'],
  ],
];

for (const [owner, ...names] of LATER) {
  for (const name of names) if (!Reflect.deleteProperty(owner, name)) throw new Error(`${String(name)} stays`);
}
