/**
 * What a webhook answered, before anybody looks into it: whether it can be read as a review of the version that was
 * asked in, and if not, what the reference server says of it.
 */

import { parseApiVersion } from '../meta/gvk.js';
import { jsonType } from '../schema/decode-scalar.js';
import { quote } from '../text/go/go-text.js';
import { isRecord } from '../util/json.js';

/** The review that was sent: an answer is one of the same type. */
export interface ReviewType {
  /** Of one of the two versions that every review has. */
  readonly apiVersion: string;
  readonly kind: string;
}

const TYPE_OF_TYPES =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Why an answer cannot be read; undefined when it can. What it does not say is taken to be what was expected. */
export function unreadableReview(answer: unknown, expected: ReviewType): string | undefined {
  const unreadable = unreadableType(answer);
  if (unreadable !== undefined) return unreadable;
  const said = typeIn(answer);
  const apiVersion = said.apiVersion || expected.apiVersion;
  const kind = said.kind || expected.kind;
  if (apiVersion === expected.apiVersion && kind === expected.kind) return undefined;
  return mismatch({ apiVersion, kind }, expected);
}

/** Why nobody can say of which type a document is; nothing at all will do. */
export function unreadableType(document: unknown): string | undefined {
  if (document === null || document === undefined) return undefined;
  const fail = (value: unknown, into: string) =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into ${into}`;
  if (!isRecord(document)) return fail(document, `Go value of type ${TYPE_OF_TYPES}`);
  for (const field of ['apiVersion', 'kind']) {
    const value = document[field] ?? '';
    if (typeof value !== 'string') return fail(value, `Go struct field .${field} of type string`);
  }
  return undefined;
}

/** Group, version and kind as an answer gives them; what is missing is empty. */
export function typeIn(answer: unknown): ReviewType {
  if (!isRecord(answer)) return { apiVersion: '', kind: '' };
  return { apiVersion: textOf(answer['apiVersion']), kind: textOf(answer['kind']) };
}

/** There is no way from one type that is known to another; of others nothing is known at all. */
function mismatch(found: ReviewType, expected: ReviewType): string {
  const [said, wanted] = [parseApiVersion(found.apiVersion), parseApiVersion(expected.apiVersion)];
  const isOther = said?.group === wanted?.group && (said?.version === 'v1' || said?.version === 'v1beta1');
  const isStatus = found.apiVersion === 'v1' && found.kind === 'Status';
  if (isStatus || (isOther && found.kind === expected.kind)) {
    return `converting (${said?.version}.${found.kind}) to (${wanted?.version}.${expected.kind}): unknown conversion`;
  }
  return `no kind ${quote(found.kind)} is registered for version ${quote(found.apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
