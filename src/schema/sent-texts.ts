/**
 * Quantities as their client wrote them, where that is not how they are written here: some messages show what the
 * reference server has read, `15` tenths and not `1500` thousandths. Known by the map that was decoded, and no longer than
 * that map is there.
 */
const texts = new WeakMap<object, Map<string, string>>();

export function noteSentText(holder: object, key: string, text: string): void {
  const known = texts.get(holder);
  if (known === undefined) texts.set(holder, new Map([[key, text]]));
  else known.set(key, text);
}

/** Undefined: as it stands in the map, as far as anybody knows. */
export function sentText(holder: object, key: string): string | undefined {
  return texts.get(holder)?.get(key);
}

/** For a copy that stands for the same. */
export function keepSentTexts(from: object, to: object): void {
  const known = texts.get(from);
  if (known !== undefined) texts.set(to, known);
}
