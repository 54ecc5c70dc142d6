/**
 * The metadata of an object as who asks for nothing else sees it.
 */
import type { Kind } from '../kinds/kind.js';

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Without the annotations that stand for fields: those belong to the object, not to its metadata. */
export function bareMetadata(metadata: object, { fieldAnnotations }: Kind): object {
  if (fieldAnnotations === undefined) return metadata;
  const { annotations = {}, ...rest }: Annotated = metadata;
  if (!fieldAnnotations.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !fieldAnnotations.includes(name));
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) };
}
