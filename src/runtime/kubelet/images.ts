/**
 * Finds the image for a container's image name.
 */
import type { Image } from '../program.js';

/** Prefixes that can be left out in both the table and the container. */
const DEFAULT_PREFIXES = ['docker.io/library/', 'docker.io/', 'index.docker.io/library/'];

/** The image with the name, with the name without tag and digest, or `*`. */
export function imageNamed(name: string, images: Readonly<Record<string, Image>>): Image | undefined {
  const short = withoutPrefix(name);
  for (const key of [name, short, repositoryOf(name), repositoryOf(short), '*']) {
    if (Object.hasOwn(images, key)) return images[key];
  }
  const found = Object.keys(images).find(
    (key) => withoutPrefix(key) === short || withoutPrefix(key) === repositoryOf(short),
  );
  return found === undefined ? undefined : images[found];
}

function withoutPrefix(name: string): string {
  const prefix = DEFAULT_PREFIXES.find((each) => name.startsWith(each));
  return prefix === undefined ? name : name.slice(prefix.length);
}

/** The image name without tag and digest. */
function repositoryOf(image: string): string {
  const bare = image.split('@', 1)[0] ?? image;
  const colon = bare.lastIndexOf(':');
  return colon > bare.lastIndexOf('/') ? bare.slice(0, colon) : bare;
}
