/**
 * One text of a caller → its objects, and the report on what in it cannot be read.
 */
import type { AppliedManifest } from './apply.js';
import { unreadable } from './apply.js';
import { type Manifest, ManifestError, readManifests } from './read.js';

export interface ReadText {
  readonly manifests: readonly Manifest[];
  readonly unreadable: readonly AppliedManifest[];
}

/** Throws TypeError when it is no text at all; `call` is what was given it. */
export function readText(call: string, text: unknown): ReadText {
  if (typeof text !== 'string') {
    throw new TypeError(`orchplane: ${call} takes the text of a manifest, got ${text === null ? 'null' : typeof text}`);
  }
  const read = readManifests({ text });
  return {
    manifests: read.filter((each): each is Manifest => !(each instanceof ManifestError)),
    unreadable: read.filter((each) => each instanceof ManifestError).map(unreadable),
  };
}
