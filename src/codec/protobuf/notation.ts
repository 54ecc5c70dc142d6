/**
 * How the message types are written down, and their lookup. A line is a type and its fields in order of number; a line
 * that begins with a blank goes on with the one before.
 *
 * A field is NAME `=`NUMBER FORM `:`TYPE. Its number is left out when it is the next one, its type when it is a string:
 * - `name`               a string, which is on the wire even when it is empty
 * - `paused=7*:bool`     a pointer, with the number 7: only on the wire when it was given
 * - `finalizers[]`       a list of strings; `ports[]:ServicePort`: of messages
 * - `labels{}`           a map from strings to strings; `limits{}:Quantity`: to messages
 * - `:VolumeSource`      a message of its own on the wire, whose fields stand among the others in JSON
 * - `x-~-list-type=42*`  a schema extension, which has another name in each dialect
 *
 * A name is looked for in the version that uses it, in the one it is `like`, in the core group, and then among the
 * types of all groups. So a version writes down only what differs from the one it is like.
 */
import type { Dialect } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { lazyMembers, SOURCE } from '../../util/hidden-class.js';
import { invariant } from '../../util/invariant.js';
import type { Shape } from './shapes.js';
import { shapeOf } from './shapes.js';

export interface GroupTypes {
  /** How other groups refer to it: `authentication/v1/UserInfo`. */
  readonly name: string;
  /** The canonical name of the group. */
  readonly group: string;
  readonly versions: readonly VersionTypes[];
}

export interface VersionTypes {
  readonly version: string;
  /** The version that has the types which are not written down here. */
  readonly like?: string;
  /** The types that are documents; `Pod+` has a list, `PodList`, of the usual make. */
  readonly kinds: string;
  readonly types: string;
}

/** `bytes` is base64 in documents; `raw` is bytes as they are, for those who make something else of them. */
export type WireType = 'string' | 'bytes' | 'raw' | 'int32' | 'int64' | 'bool' | 'double' | 'message';

export interface MessageField {
  /** The key in a document; empty when the fields of the message stand among the others. */
  readonly name: string;
  readonly number: number;
  readonly form: 'one' | 'list' | 'map';
  /** Left out when absent. What is no pointer is written as its zero value. */
  readonly pointer: boolean;
  readonly type: WireType;
  /** How a single value of the type stands on the wire. */
  readonly wireType: number;
  /** Number and wire type as they precede a value. */
  readonly tag: number;
  /** The items of a list of documents, whose bytes are kept. */
  readonly documents: boolean;
  /** Only of type `message`. */
  readonly message: Message;
}

export interface Message {
  readonly name: string;
  readonly fields: readonly MessageField[];
  readonly byNumber: readonly (MessageField | undefined)[];
  /** Where in `fields` a key of a document is. */
  readonly positions: ReadonlyMap<string, number>;
  /** How it stands in documents, when that is not as an object with these fields. */
  readonly shape: Shape | undefined;
}

/** Finds types for one dialect. */
export interface TypeTable {
  /** The type of a document; undefined when it is none that is known. */
  ofKind(apiVersion: string, kind: string): Message | undefined;
  /** A type by its own name, for messages that are no documents. */
  named(name: string): Message;
}

/** Documents of these kinds go with every version of every group. */
const EVERYWHERE = new Set(
  'CreateOptions DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions WatchEvent'.split(' '),
);

/** A table of the groups; `shared` has the types that all of them may use. */
export function createTypeTable(groups: readonly GroupTypes[], shared: string, dialect: Dialect): TypeTable {
  /** By the names that types use, and by those of documents. */
  const scopes = new Map<string, Scope>();
  const ofDocuments = new Map<string, Scope>();
  const common = new Scope({ version: '', kinds: '', types: shared });
  for (const { name, group, versions } of groups) {
    for (const types of versions) {
      const scope = new Scope(types, scopes.get(`${name}/${types.like}`));
      scopes.set(`${name}/${types.version}`, scope);
      ofDocuments.set(apiVersionOf({ group: dialect.group(group), version: types.version }), scope);
    }
  }
  const fallbacks = ['core/v1', 'meta/v1'].map((name) => scopes.get(name) as Scope).concat(common);

  function find(scope: Scope, name: string): Message {
    const known = scope.messages.get(name);
    if (known !== undefined) return known;
    const slash = name.lastIndexOf('/');
    if (slash > 0) return find(scopes.get(name.slice(0, slash)) as Scope, name.slice(slash + 1));
    // The type is made for the version that asks: what it refers to may differ from version to version.
    const text = scope.line(name) ?? scope.like?.line(name);
    const message = text === undefined ? findElsewhere(scope, name) : createMessage(name, text, scope);
    scope.messages.set(name, message);
    return message;
  }

  function findElsewhere(scope: Scope, name: string): Message {
    const holder = fallbacks.find((fallback) => fallback !== scope && fallback.line(name) !== undefined);
    invariant(holder !== undefined, `there is no message type ${name}`);
    return find(holder, name);
  }

  function createMessage(name: string, text: string, scope: Scope): Message {
    const resolve = (type: string): Message => find(scope, type);
    const fields: MessageField[] = [];
    const byNumber: (MessageField | undefined)[] = [];
    for (const fieldText of words(text)) {
      const next = (fields.at(-1)?.number ?? 0) + 1;
      const field = createField(fieldText, { holder: name, next, dialect, resolve });
      fields.push(field);
      byNumber[field.number] = field;
    }
    const positions = new Map(fields.map((field, position) => [field.name, position]));
    return { name, fields, byNumber, positions, shape: shapeOf(name) };
  }

  return {
    ofKind(apiVersion, kind) {
      const scope = ofDocuments.get(apiVersion);
      if (EVERYWHERE.has(kind)) return find(scope ?? common, kind);
      return scope?.kinds.has(kind) ? find(scope, kind) : undefined;
    },
    named: (name) => find(common, name),
  };
}

/** One version of a group; its text is taken apart when it is first asked for. */
class Scope {
  readonly messages = new Map<string, Message>();
  readonly like: Scope | undefined;
  readonly #types: VersionTypes;
  #lines: ReadonlyMap<string, string> | undefined;
  #kinds: ReadonlySet<string> | undefined;

  constructor(types: VersionTypes, like?: Scope) {
    this.#types = types;
    this.like = like;
  }

  get kinds(): ReadonlySet<string> {
    this.#kinds ??= new Set(this.#kindNames().flatMap((name) => withList(name)));
    return this.#kinds;
  }

  /** The fields of a type, as text. */
  line(name: string): string | undefined {
    this.#lines ??= this.#readLines();
    return this.#lines.get(name);
  }

  #kindNames(): readonly string[] {
    return words(this.#types.kinds);
  }

  #readLines(): ReadonlyMap<string, string> {
    const lines = new Map<string, string>();
    for (const name of this.#kindNames()) {
      const [kind = '', list] = withList(name);
      if (list !== undefined) lines.set(list, ` metadata:ListMeta items[]:${kind}`);
    }
    for (const line of this.#types.types.split(/\n(?=\w)/)) {
      const [name = ''] = /^\w*/.exec(line) ?? [];
      lines.set(name, line.slice(name.length));
    }
    return lines;
  }
}

function words(text: string): readonly string[] {
  return text.match(/\S+/g) ?? [];
}

/** `Pod+` → `Pod`, `PodList`. */
function withList(name: string): string[] {
  if (!name.endsWith('+')) return [name];
  const kind = name.slice(0, -1);
  return [kind, `${kind}List`];
}

const FIELD = /^([^=*[{:]*)(?:=(\d+))?(\*)?(\[\]|\{\})?(?::(.+))?$/;

const WIRE_NUMBERS: Readonly<Record<WireType, number>> = {
  int32: 0,
  int64: 0,
  bool: 0,
  double: 1,
  string: 2,
  bytes: 2,
  raw: 2,
  message: 2,
};

/** What a field's text leaves to its surroundings. */
interface FieldContext {
  /** The type it belongs to. */
  readonly holder: string;
  /** The number of a field that gives none. */
  readonly next: number;
  readonly dialect: Dialect;
  resolve(type: string): Message;
}

function createField(text: string, { holder, next, dialect, resolve }: FieldContext): MessageField {
  const [, name = '', digits = next, pointer, form, typeName = 'string'] = FIELD.exec(text) ?? [];
  const type = Object.hasOwn(WIRE_NUMBERS, typeName) ? (typeName as WireType) : 'message';
  const number = Number(digits);
  let message: Message | undefined;
  const field: Omit<MessageField, 'message'> = {
    name: name.startsWith('x-~-') ? dialect.extension(name.slice('x-~-'.length)) : name,
    number,
    form: form === '[]' ? 'list' : form === '{}' ? 'map' : 'one',
    // Absent bytes differ from empty ones, as with a pointer.
    pointer: pointer !== undefined || type === 'bytes' || type === 'raw',
    type,
    wireType: WIRE_NUMBERS[type],
    // An entry of a map is a message.
    tag: (number << 3) | WIRE_NUMBERS[form === '{}' ? 'message' : type],
    documents: name === 'items' && type === 'message' && holder.endsWith('List') && holder !== 'List',
  };
  // Only when it is needed: types refer to each other in circles.
  return withMessage(field, () => (message ??= resolve(typeName)));
}

const withMessage = lazyMembers<() => Message, Pick<MessageField, 'message'>>({
  message() {
    return this[SOURCE]();
  },
});
