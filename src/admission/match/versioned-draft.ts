/**
 * The draft of a request while webhooks or policies change it: converted to the version that each of them matched, decoded
 * again after a change, and converted back into the draft at the end.
 */

import { typeMetaProblem } from '../../kinds/review-answer.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, type StatusError } from '../../meta/errors.js';
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { decodingFindings } from '../../schema/findings.js';
import { quote } from '../../text/go/go-text.js';
import { translateError } from '../../util/catch-error.js';
import { deepEqual, isRecord } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import type { Match } from './types.js';
import {
  decodeDraft,
  replaceContent,
  subresourceKind,
  type WireObject,
  wireObject,
  wireObjectFor,
} from './wire-object.js';

export interface VersionedObjects {
  readonly match: Match;
  readonly object: WireObject | undefined;
  readonly oldObject: WireObject | undefined;
}

export interface AcceptOptions {
  /** Rejects unknown fields instead of dropping them. */
  readonly strict?: boolean;
  /** Builds the error for a value that cannot be decoded; default: a 500. */
  readonly refuse?: (why: string, cause: unknown) => Error;
}

export class VersionedDraft {
  readonly #request: AdmissionRequest<DraftObject>;
  readonly #view: ClusterView;
  #current: VersionedObjects | undefined;
  /** The changed object in the version of `#current`, not yet written to the draft. */
  #changed: DraftObject | undefined;

  constructor(request: AdmissionRequest<DraftObject>, view: ClusterView) {
    this.#request = request;
    this.#view = view;
  }

  /** The current state, for label selectors. */
  get current(): DraftObject | undefined {
    return this.#changed ?? this.#request.object;
  }

  /** The objects in the version of a match. Throws 500 if they cannot be converted. */
  async convertTo(match: Match): Promise<VersionedObjects> {
    const { object, oldObject } = this.#request;
    const before = this.#current;
    if (before !== undefined && sameKind(before.match.kind, match.kind)) {
      this.#current = { ...before, match };
      return this.#current;
    }
    await this.finish();
    this.#current = {
      match,
      object: await this.#convert(object, match),
      oldObject: await this.#convert(oldObject, match),
    };
    return this.#current;
  }

  #convert(object: ApiObject | DraftObject | undefined, match: Match): MaybePromise<WireObject | undefined> {
    return wireObjectFor(object, this.#request.served, match, { view: this.#view, refuse: conversionFailure });
  }

  /** Whether a change is not yet written to the draft. */
  get isDirty(): boolean {
    return this.#changed !== undefined;
  }

  /**
   * Accepts the changed object, in the version converted to last. Returns whether it differs. Throws 500 if it is not a
   * valid object of its kind.
   */
  accept(value: unknown, options: AcceptOptions = {}): boolean {
    const current = this.#current as VersionedObjects;
    const { match } = current;
    const expected = subresourceKind(match.matched, match.subresource);
    if (expected === undefined) {
      this.#changed = value as DraftObject;
      this.#current = { ...current, object: value as WireObject };
      return !deepEqual(current.object, value);
    }
    const declared = this.#declaredKind(value, expected);
    const draft = readObject(value, declared, { view: this.#view, refuse: options.refuse ?? errors.internal });
    if (options.strict === true) refuseUnknownFields(value, declared);
    const object = wireObject(draft, declared);
    this.#changed = draft;
    const kind = declared === expected ? match.kind : declared.gvk;
    this.#current = {
      ...current,
      match: declared === expected ? match : { ...match, matched: declared, kind },
      object,
    };
    return !deepEqual(current.object, object);
  }

  /** The kind that the object's apiVersion and kind name: the same kind, possibly in another version. */
  #declaredKind(value: unknown, expected: ServedKind): ServedKind {
    const unreadable = typeMetaProblem(value);
    if (unreadable !== undefined) throw errors.internal(unreadable);
    const gvk = declaredGvk(isRecord(value) ? value : {}, expected.gvk);
    if (sameKind(gvk, expected.gvk)) return expected;
    const other = this.#view.kindNamed(gvk);
    if (other === undefined) {
      const version = quote(apiVersionOf(gvk));
      throw errors.internal(
        `no kind ${quote(gvk.kind)} is registered for version ${version} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      );
    }
    if (other.storageKey === expected.storageKey) return other;
    // The reference server's name of its internal version.
    const [own = ''] = expected.gvk.group.split('.', 1);
    const internal = `${own || 'core'}.${expected.gvk.kind}`;
    throw errors.plain(`converting (${gvk.version}.${gvk.kind}) to (${internal}): unknown conversion`);
  }

  /** Writes the change to the draft, in the draft's version. Throws 500 if it cannot be converted. */
  async finish(): Promise<void> {
    const { object, objectKind, served } = this.#request;
    const [changed, current] = [this.#changed, this.#current];
    this.#changed = undefined;
    this.#current = undefined;
    if (changed === undefined || object === undefined || current === undefined) return;
    const { matched, subresource } = current.match;
    const isOther = matched !== served && subresourceKind(matched, subresource) === matched;
    if (!isOther) replaceContent(object, changed);
    else {
      const target = { matched: served, kind: served.gvk, resource: served.gvr, subresource: '' };
      const back = await wireObjectFor(changed, matched, target, { view: this.#view, refuse: conversionFailure });
      replaceContent(object, readObject(back, served, { view: this.#view, refuse: errors.internal }));
    }
    // The change may have removed them.
    object.kind = objectKind.kind;
    object.apiVersion = apiVersionOf(objectKind);
  }
}

function sameKind(left: GroupVersionKind, right: GroupVersionKind): boolean {
  return left.group === right.group && left.version === right.version && left.kind === right.kind;
}

/** The type in the object; absent parts keep their previous value. */
function declaredGvk(
  { apiVersion, kind }: Readonly<Record<string, unknown>>,
  known: GroupVersionKind,
): GroupVersionKind {
  const version = typeof apiVersion === 'string' && apiVersion !== '' ? parseApiVersion(apiVersion) : undefined;
  return { ...known, ...version, ...(typeof kind === 'string' && kind !== '' ? { kind } : {}) };
}

export function conversionFailure(error: StatusError): StatusError {
  return errors.internal(error.message, error);
}

function readObject(
  value: unknown,
  expected: ServedKind,
  { view, refuse }: { readonly view: ClusterView; readonly refuse: (why: string, cause: unknown) => Error },
): DraftObject {
  const decode = () => decodeDraft(value, expected, view);
  return translateError(DecodeError, decode, (error) => refuse(error.message, error));
}

/** Custom resources are not structs: their unknown fields are found when they are validated. */
function refuseUnknownFields(value: unknown, { kind, schema }: ServedKind): void {
  if (kind.representation !== 'struct') return;
  const findings = decodingFindings(schema, { value });
  if (findings.length > 0) throw errors.internal(`strict decoding error: ${findings.join(', ')}`);
}
