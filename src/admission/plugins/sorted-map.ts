/**
 * Maps as they are on the wire: whoever adds a key to a draft puts it in its place.
 */
export function sortedMap(map: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(map).sort(([left], [right]) => (left < right ? -1 : 1)));
}
