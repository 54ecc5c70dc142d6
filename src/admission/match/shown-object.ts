/**
 * The draft of a request on its way through those who may change it: shown in the version that each of them asks for,
 * taken back with what was changed, and put into the draft at the end.
 */
import { unreadableType } from '../../kinds/review-answer.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, StatusError } from '../../meta/errors.js';
import { apiVersionOf, type GroupVersionKind, parseApiVersion } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { decodingFindings } from '../../schema/findings.js';
import { quote } from '../../text/go/go-text.js';
import { deepEqual, isRecord } from '../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { become, formBelow, readForm, type WireObject, wireObject } from './form.js';
import type { Match } from './types.js';

export interface Shown {
  readonly match: Match;
  readonly object: WireObject | undefined;
  readonly oldObject: WireObject | undefined;
}

export interface TakeOptions {
  /** Fields that the kind does not have are refused, where they are dropped otherwise. */
  readonly strict?: boolean;
  /** Words the failure of a value that fits into no field; a 500 otherwise. */
  readonly refuse?: (why: string, cause: unknown) => Error;
}

export class ShownObject {
  readonly #request: AdmissionRequest<DraftObject>;
  readonly #view: ClusterView;
  #shown: Shown | undefined;
  /** What was made of the object as it is shown, and is not in the draft yet. */
  #changed: DraftObject | undefined;

  constructor(request: AdmissionRequest<DraftObject>, view: ClusterView) {
    this.#request = request;
    this.#view = view;
  }

  /** As it is at the moment, for those who ask which labels it has. */
  get current(): DraftObject | undefined {
    return this.#changed ?? this.#request.object;
  }

  /** Throws 500 where it cannot be converted. */
  async in(match: Match): Promise<Shown> {
    const { object, oldObject } = this.#request;
    const before = this.#shown;
    if (before !== undefined && sameKind(before.match.kind, match.kind)) {
      this.#shown = { ...before, match };
      return this.#shown;
    }
    await this.finish();
    this.#shown = {
      match,
      object: object === undefined ? undefined : await this.#convert(object, match),
      oldObject: oldObject === undefined ? undefined : await this.#convert(oldObject, match),
    };
    return this.#shown;
  }

  async #convert(object: ApiObject | DraftObject, { matched, subresource }: Match): Promise<WireObject> {
    const { served } = this.#request;
    const form = formBelow(matched, subresource);
    // What stands below an object is the same in all its versions.
    if (form !== matched || matched === served) return wireObject(object, form);
    return wireObject(await converted(object as ApiObject, { from: served, to: matched, view: this.#view }), form);
  }

  /** Whether anything was taken that is not in the draft yet. */
  get isDirty(): boolean {
    return this.#changed !== undefined;
  }

  /**
   * Takes what somebody made of the object that was shown last. Says whether it is another one. Throws 500 for what is no
   * object of its kind any more.
   */
  take(value: unknown, options: TakeOptions = {}): boolean {
    const shown = this.#shown as Shown;
    const { match } = shown;
    const form = formBelow(match.matched, match.subresource);
    if (form === undefined) {
      this.#changed = value as DraftObject;
      this.#shown = { ...shown, object: value as WireObject };
      return !deepEqual(shown.object, value);
    }
    const said = this.#formSaid(value, form);
    const draft = readObject(value, said, { view: this.#view, refuse: options.refuse ?? errors.internal });
    if (options.strict === true) refuseUnknownFields(value, said);
    const object = wireObject(draft, said);
    this.#changed = draft;
    const kind = said === form ? match.kind : said.gvk;
    this.#shown = { ...shown, match: said === form ? match : { ...match, matched: said, kind }, object };
    return !deepEqual(shown.object, object);
  }

  /** The kind that an object says it is: another version of its own will do. */
  #formSaid(value: unknown, form: ServedKind): ServedKind {
    const unreadable = unreadableType(value);
    if (unreadable !== undefined) throw errors.internal(unreadable);
    const gvk = kindSaid(isRecord(value) ? value : {}, form.gvk);
    if (sameKind(gvk, form.gvk)) return form;
    const other = this.#view.kindNamed(gvk);
    if (other === undefined) {
      const version = quote(apiVersionOf(gvk));
      throw errors.internal(
        `no kind ${quote(gvk.kind)} is registered for version ${version} in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      );
    }
    if (other.storage === form.storage) return other;
    // Its name for the form in which it works with objects.
    const [own = ''] = form.gvk.group.split('.', 1);
    const internal = `${own || 'core'}.${form.gvk.kind}`;
    throw errors.plain(`converting (${gvk.version}.${gvk.kind}) to (${internal}): unknown conversion`);
  }

  /** Puts what was changed into the draft, in its own version. Throws 500 where it cannot be converted. */
  async finish(): Promise<void> {
    const { object, served } = this.#request;
    const [changed, shown] = [this.#changed, this.#shown];
    this.#changed = undefined;
    this.#shown = undefined;
    if (changed === undefined || object === undefined || shown === undefined) return;
    const { matched, subresource } = shown.match;
    const isOther = matched !== served && formBelow(matched, subresource) === matched;
    if (!isOther) become(object, changed);
    else {
      const back = await converted(changed as unknown as ApiObject, { from: matched, to: served, view: this.#view });
      become(object, readObject(wireObject(back, served), served, { view: this.#view, refuse: errors.internal }));
    }
  }
}

function sameKind(left: GroupVersionKind, right: GroupVersionKind): boolean {
  return left.group === right.group && left.version === right.version && left.kind === right.kind;
}

/** What an object does not say of its type is what it was. */
function kindSaid({ apiVersion, kind }: Readonly<Record<string, unknown>>, known: GroupVersionKind): GroupVersionKind {
  const version = typeof apiVersion === 'string' && apiVersion !== '' ? parseApiVersion(apiVersion) : undefined;
  return { ...known, ...version, ...(typeof kind === 'string' && kind !== '' ? { kind } : {}) };
}

async function converted(
  object: ApiObject,
  about: { readonly from: ServedKind; readonly to: ServedKind; readonly view: ClusterView },
): Promise<ApiObject> {
  try {
    return await about.view.convert(object, about.from, about.to);
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    throw errors.internal(error.message, error);
  }
}

function readObject(
  value: unknown,
  form: ServedKind,
  { view, refuse }: { readonly view: ClusterView; readonly refuse: (why: string, cause: unknown) => Error },
): DraftObject {
  try {
    return readForm(value, form, view);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw refuse(error.message, error);
  }
}

/** Users' own kinds are documents, in which nothing is unknown until they are validated. */
function refuseUnknownFields(value: unknown, { kind, schema }: ServedKind): void {
  if (kind.representation !== 'struct') return;
  const findings = decodingFindings(schema, { value });
  if (findings.length > 0) throw errors.internal(`strict decoding error: ${findings.join(', ')}`);
}
