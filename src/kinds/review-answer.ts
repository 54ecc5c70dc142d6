/**
 * Checks that a webhook's response is a review of the type that was sent, with the reference server's error messages.
 */
import { parseApiVersion } from '../meta/gvk.js';
import { jsonType } from '../schema/decode-scalar.js';
import { quote } from '../text/go/go-text.js';
import { isRecord } from '../util/json.js';

/** The apiVersion and kind of a review. */
export interface ReviewType {
  /** Every review has the versions v1 and v1beta1. */
  readonly apiVersion: string;
  readonly kind: string;
}

const GO_TYPE_META =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** The reason why an answer is not a review of the expected type; undefined if it is. Absent type fields match. */
export function reviewTypeProblem(answer: unknown, expected: ReviewType): string | undefined {
  const unreadable = typeMetaProblem(answer);
  if (unreadable !== undefined) return unreadable;
  const said = typeMetaOf(answer);
  const apiVersion = said.apiVersion || expected.apiVersion;
  const kind = said.kind || expected.kind;
  if (apiVersion === expected.apiVersion && kind === expected.kind) return undefined;
  return mismatch({ apiVersion, kind }, expected);
}

/** The reason why the type of a document cannot be decoded; undefined if it can. An empty document is accepted. */
export function typeMetaProblem(document: unknown): string | undefined {
  if (document === null || document === undefined) return undefined;
  const fail = (value: unknown, into: string) =>
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(value)} into ${into}`;
  if (!isRecord(document)) return fail(document, `Go value of type ${GO_TYPE_META}`);
  for (const field of ['apiVersion', 'kind']) {
    const value = document[field] ?? '';
    if (typeof value !== 'string') return fail(value, `Go struct field .${field} of type string`);
  }
  return undefined;
}

/** The type of an answer; absent fields are empty. */
export function typeMetaOf(answer: unknown): ReviewType {
  if (!isRecord(answer)) return { apiVersion: '', kind: '' };
  return { apiVersion: textOf(answer['apiVersion']), kind: textOf(answer['kind']) };
}

/** The message for another type: a registered type has no conversion, any other type is not registered. */
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
