/**
 * The notation of the message types, and their lookup. A line is a type and its fields, sorted by number; a line that
 * starts with a space continues the previous line.
 *
 * A field is NAME `=`NUMBER FORM `:`TYPE. The number defaults to the next one, the type to string:
 * - `name`               a string, written even when it is empty
 * - `paused=7*:bool`     a pointer with the number 7: written only when it is set
 * - `finalizers[]`       a list of strings; `ports[]:ServicePort`: of messages
 * - `labels{}`           a map from strings to strings; `limits{}:Quantity`: to messages
 * - `:VolumeSource`      an embedded struct: a message on the wire, whose fields are inlined in JSON
 * - `x-~-list-type=42*`  a schema extension, whose name depends on the dialect
 *
 * A type name is looked up in the version that uses it, in the version it is `like`, in the core group, and in the types
 * that all groups share. A version lists only the types that differ from the version it is `like`.
 */
import type { Dialect } from '../../meta/dialect.js';
import { apiVersionOf } from '../../meta/gvk.js';
import { lazyMembers, SOURCE } from '../../util/hidden-class.js';
import { invariant } from '../../util/invariant.js';
import type { Shape } from './shapes.js';
import { shapeOf } from './shapes.js';

export interface GroupTypes {
  /** The name that other groups use in references: `authentication/v1/UserInfo`. */
  readonly name: string;
  /** The canonical name of the group. */
  readonly group: string;
  readonly versions: readonly VersionTypes[];
}

export interface VersionTypes {
  readonly version: string;
  /** The version that defines the types which are not listed here. */
  readonly like?: string;
  /** The types that are documents; `Pod+` also defines the list type `PodList`. */
  readonly kinds: string;
  readonly types: string;
}

/** `bytes` is base64 in JSON; `raw` is a Uint8Array that a shape converts. */
export type WireType = 'string' | 'bytes' | 'raw' | 'int32' | 'int64' | 'bool' | 'double' | 'message';

export interface MessageField {
  /** The key in JSON; empty for an embedded struct. */
  readonly name: string;
  readonly number: number;
  readonly form: 'one' | 'list' | 'map';
  /** Omitted when absent. Other fields are written with their zero value. */
  readonly pointer: boolean;
  readonly type: WireType;
  /** The wire type of a single value. */
  readonly wireType: number;
  /** The field number and wire type, as written before a value. */
  readonly tag: number;
  /** Whether this is the `items` field of a list type; the bytes of the items are cached. */
  readonly documents: boolean;
  /** Only of type `message`. */
  readonly message: Message;
}

export interface Message {
  readonly name: string;
  readonly fields: readonly MessageField[];
  readonly byNumber: readonly (MessageField | undefined)[];
  /** The index in `fields` by JSON key. */
  readonly positions: ReadonlyMap<string, number>;
  /** The conversion to JSON, if the JSON is not an object with these fields. */
  readonly shape: Shape | undefined;
}

/** Finds types for one dialect. */
export interface TypeTable {
  /** The type of a document; undefined if the kind is unknown. */
  ofKind(apiVersion: string, kind: string): Message | undefined;
  /** A type by its name, for messages that are not documents. */
  named(name: string): Message;
}

/** These kinds belong to every group and version. */
const EVERYWHERE = new Set(
  'CreateOptions DeleteOptions GetOptions ListOptions PatchOptions UpdateOptions WatchEvent'.split(' '),
);

/** Creates the table of all groups; `shared` contains the types that all groups may use. */
export function createTypeTable(groups: readonly GroupTypes[], shared: string, dialect: Dialect): TypeTable {
  /** By reference name (`core/v1`), and by apiVersion. */
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
    // The message is built for the requesting version, because types that it refers to may differ between versions.
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

/** One version of a group; its text is parsed on first use. */
class Scope {
  readonly messages = new Map<string, Message>();
  #lines: ReadonlyMap<string, string> | undefined;
  #kinds: ReadonlySet<string> | undefined;

  constructor(
    private readonly types: VersionTypes,
    readonly like?: Scope,
  ) {}

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
    return words(this.types.kinds);
  }

  #readLines(): ReadonlyMap<string, string> {
    const lines = new Map<string, string>();
    for (const name of this.#kindNames()) {
      const [kind = '', list] = withList(name);
      if (list !== undefined) lines.set(list, ` metadata:ListMeta items[]:${kind}`);
    }
    for (const line of this.types.types.split(/\n(?=\w)/)) {
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

/** The context of a field definition. */
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
    // Absent bytes differ from empty bytes, as for a pointer.
    pointer: pointer !== undefined || type === 'bytes' || type === 'raw',
    type,
    wireType: WIRE_NUMBERS[type],
    // An entry of a map is a message.
    tag: (number << 3) | WIRE_NUMBERS[form === '{}' ? 'message' : type],
    documents: name === 'items' && type === 'message' && holder.endsWith('List') && holder !== 'List',
  };
  // Resolved lazily, because types refer to each other in cycles.
  return withMessage(field, () => (message ??= resolve(typeName)));
}

const withMessage = lazyMembers<() => Message, Pick<MessageField, 'message'>>({
  message() {
    return this[SOURCE]();
  },
});
