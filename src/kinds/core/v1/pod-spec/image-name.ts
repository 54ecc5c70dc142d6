/**
 * How an image is named, as far as its tag decides how often it is pulled.
 */

const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const NAME = `(?:${HOST}(?::[0-9]+)?/)?${PATH_PART}(?:/${PATH_PART})*`;
const TAG = '[\\w][\\w.-]{0,127}';
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const REFERENCE = new RegExp(`^${NAME}(?::(${TAG}))?(?:@(${DIGEST}))?$`);

/** The tag in force: `latest` when neither tag nor digest is given; empty for what is no name of an image. */
export function imageTag(image: string): string {
  // A bare digest is not taken for a name.
  if (/^[a-f0-9]{64}$/.test(image)) return '';
  const match = REFERENCE.exec(image);
  if (match === null) return '';
  const [, tag, digest] = match;
  return tag ?? (digest === undefined ? 'latest' : '');
}
