/**
 * Reads the vectors of this folder: inputs with the results of the reference implementation, and facts about the types
 * and resources of the reference server.
 */
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The content of `NAME.json` or `NAME.json.gz`. Integers under `bigKeys` become texts, because they may not fit a number. */
export function readVectors(name: string, bigKeys: readonly string[] = []): unknown {
  let text = readText(name);
  for (const key of bigKeys) text = text.replace(new RegExp(`("${key}":\\s*)(-?\\d+)`, 'g'), '$1"$2"');
  return JSON.parse(text);
}

export interface WireVectors {
  /** One object with all fields set for every kind, by names like `apps.v1.Deployment`, in the Kubernetes dialect. */
  readonly documents: Readonly<Record<string, object>>;
  /** The same objects as the reference server encodes them in protobuf, in hexadecimal digits. */
  readonly protobuf: Readonly<Record<string, string>>;
}

export function readWireVectors(): WireVectors {
  return readVectors('wire') as WireVectors;
}

function readText(name: string): string {
  const plain = new URL(`${name}.json`, import.meta.url);
  if (existsSync(plain)) return readFileSync(plain, 'utf8');
  return gunzipSync(readFileSync(new URL(`${name}.json.gz`, import.meta.url))).toString();
}
