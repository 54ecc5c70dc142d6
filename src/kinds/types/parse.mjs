/**
 * Reads the tables of API types. See `README.md` for the notation.
 */

/** Schemas that are written by hand; fields of any table may have these types. */
const HAND_WRITTEN = [
  {
    name: 'ObjectMeta',
    schema: 'templateMeta',
    from: '../shared/object-meta.js',
    type: 'ObjectMetaInput',
    typeFrom: '../../meta/object.js',
  },
  {
    name: 'JSONSchemaProps',
    schema: 'jsonSchemaProps',
    from: '../../schema/json-schema.js',
    type: 'JSONSchemaProps',
    typeFrom: '../../schema/json-schema.js',
  },
];

const SCALARS = new Set(
  'string int32 int64 number bool bytes time microTime quantity resourceList intOrString rawExtension extraValue'.split(
    ' ',
  ),
);

/** The flags of kinds that are not subresources. */
const KIND_FLAGS = ['namespaced', 'cluster', 'review'];

/** Searched after the version itself and the version it is like. */
const FALLBACKS = ['core/v1', 'meta/v1'];

/** All versions of all groups; `texts` holds pairs of a group's name and its table. */
export function parseTables(texts) {
  const sections = new Map();
  const groups = texts.map(([name, text]) => parseGroup(name, text, sections));
  const model = { groups, sections };
  for (const section of sections.values()) {
    for (const entry of section.entries) {
      for (const field of entry.fields) resolveField(field, section, model);
    }
  }
  return model;
}

function parseGroup(file, text, sections) {
  const group = { name: '', apiGroup: '', versions: [] };
  let section;
  for (const line of logicalLines(text)) {
    const [keyword, ...rest] = line.split(/\s+/);
    try {
      if (keyword === 'group') [group.name, group.apiGroup] = rest;
      else if (keyword === 'version') {
        section = createSection(group, rest[0], rest[2]);
        group.versions.push(section);
        sections.set(section.id, section);
      } else parseLine(section, keyword, rest);
    } catch (error) {
      throw new Error(`${file}.txt: ${line}: ${error.message}`, { cause: error });
    }
  }
  return group;
}

/** Comments removed, continuation lines joined. */
function logicalLines(text) {
  const lines = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.startsWith('//')) continue;
    if (line.startsWith(' ')) lines.push(`${lines.pop()} ${line.trim()}`);
    else lines.push(line.trim());
  }
  return lines;
}

function createSection(group, version, like) {
  return {
    id: `${group.name}/${version}`,
    file: `${group.name}-${version}`,
    group: group.name,
    apiGroup: group.apiGroup,
    version,
    like: like === undefined ? undefined : `${group.name}/${like}`,
    kinds: [],
    entries: [],
    names: new Map(),
    /** Entries that have TypeScript output. */
    types: [],
    strings: [],
  };
}

function parseLine(section, keyword, rest) {
  if (keyword === 'kinds') section.kinds = rest;
  else if (keyword === 'string') declare(section, parseString(section, rest[0]));
  else if (keyword === 'enum') {
    declare(section, parseString(section, rest[0], rest.slice(1).join(' ').split('|')));
  } else if (keyword === 'variant') declare(section, parseVariant(section, rest));
  else if (['kind', 'part', 'message'].includes(keyword)) declare(section, parseEntry(section, keyword, rest));
  else declare(section, parseEntry(section, 'type', [keyword, ...rest]));
}

function declare(section, entry) {
  const key = entry.kind === 'kind' || entry.kind === 'message' ? `${entry.kind} ${entry.name}` : entry.name;
  if (section.names.has(key)) throw new Error(`${key} is declared twice`);
  section.names.set(key, entry);
  if (entry.kind === 'string') {
    section.strings.push(entry);
    return;
  }
  section.entries.push(entry);
  if (entry.kind !== 'message' && (entry.kind !== 'part' || entry.isPublic)) section.types.push(entry);
}

/** `-Name(package.GoName){flags}`. */
function parseHead(text) {
  const [, visibility, name, goName, flags = ''] =
    /^([-+]?)([\w]+)(?:\(([^)]*)\))?(?:\{(.*)\})?$/.exec(text) ?? fail(`malformed head ${text}`);
  return { visibility, name, goName, flags: parseAttributes(flags, ',') };
}

function parseString(section, head, values) {
  const { visibility, name, goName } = parseHead(head);
  const goType =
    goName === 'string' ? goName : qualifiedGoName(section, goName === '%' ? `%.${name}` : (goName ?? name));
  return { kind: 'string', section, name, goType, values, isPublic: visibility === '+', fields: [] };
}

/** The same fields under other flags. */
function parseVariant(section, [schema, head]) {
  const { name, flags } = parseHead(head);
  const type = section.names.get(name) ?? fail(`${name} is not declared`);
  return { ...type, kind: 'variant', name: schema, schema, typeName: name, flags, isPublic: false };
}

function parseEntry(section, kind, [headText, ...words]) {
  const { visibility, name, goName, flags } = parseHead(headText);
  const hasNumbers = words[0] !== '#-';
  const isVersioned = flags.versioned === true;
  delete flags.versioned;
  // Kinds without a scope are versions whose types are those of another version.
  const scope = flags.namespaced ? 'Namespaced' : flags.cluster ? 'Cluster' : undefined;
  return {
    kind,
    ...(kind === 'kind' && { scope, subresources: Object.keys(flags).filter((flag) => !KIND_FLAGS.includes(flag)) }),
    section,
    name,
    goName: (goName ?? name).split('.').at(-1),
    goType: isVersioned ? (goName ?? name) : qualifiedGoName(section, goName ?? name),
    schema: schemaName(kind !== 'kind' ? name : `${name}${scope === undefined ? 'Body' : 'Base'}`),
    typeName: name,
    flags,
    isVersioned,
    isPublic: kind === 'type' || scope !== undefined ? visibility !== '-' : visibility === '+',
    hasNumbers,
    fields: parseFields(hasNumbers ? words : words.slice(1), kind === 'kind' ? 1 : 0, hasNumbers),
  };
}

/** The package is that of the version unless one is given. */
function qualifiedGoName(section, name) {
  return name.includes('.') ? name : `${section.version}.${name}`;
}

/** `HTTPGetAction` → `httpGetAction`. */
function schemaName(name) {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (capitals) => capitals.toLowerCase());
}

function parseFields(words, first, hasNumbers) {
  let last = first;
  return words.map((word) => {
    const field = parseField(word);
    if (hasNumbers && field.number !== '-') {
      field.number ??= last + 1;
      last = field.number;
    }
    return field;
  });
}

const FIELD =
  /^((?:x-~-)?[^@#?*!~:(=]+)(?:@(\w+))?(?:#(\d+|-))?([?*!~]*)(?::((?:\[[^\]]*\]|\{\})*[^(=|]*))?(\|null)?(?:\(([^)]*)\))?(?:=(.*))?$/;

function parseField(word) {
  if (word.startsWith('...')) {
    const [name, number] = word.slice('...'.length).split('#');
    return { embeds: name, number: number === undefined ? undefined : Number(number) };
  }
  const [, name, goName, number, mark, typeText = 'string', nullable, attributes = '', fallback] =
    FIELD.exec(word) ?? fail(`malformed field ${word}`);
  const type = parseType(typeText || 'string');
  return {
    name,
    goName,
    number: number === undefined || number === '-' ? number : Number(number),
    mark,
    type,
    isNullable: nullable !== undefined,
    attributes: parseAttributes(attributes, ';'),
    fallback,
  };
}

/** `[keys]Item`, `{}Value` or a name. */
function parseType(text) {
  const list = /^\[([^\]]*)\](.*)$/.exec(text);
  if (list !== null) return { form: 'list', list: list[1], of: parseType(list[2] || 'string') };
  if (text.startsWith('{}')) return { form: 'map', of: parseType(text.slice(2) || 'string') };
  return { form: 'one', name: text };
}

function parseAttributes(text, separator) {
  const pairs = text.split(separator).filter(Boolean);
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, value] = pair.split(/=(.*)/s);
      return [key, value === undefined ? true : value.startsWith('{') ? JSON.parse(value) : value];
    }),
  );
}

function resolveField(field, section, model) {
  if (field.embeds !== undefined)
    field.embedded = lookUp(field.embeds, section, model) ?? lookUpMessage(field.embeds, section, model);
  else resolveType(field.type, section, model);
}

function resolveType(type, section, model) {
  if (type.of !== undefined) resolveType(type.of, section, model);
  else if (SCALARS.has(type.name)) type.scalar = type.name;
  else {
    type.handWritten = HAND_WRITTEN.find(({ name }) => name === type.name);
    type.target = lookUp(type.name, section, model);
  }
}

/** The entry of a name as `section` uses it: of the version itself, of the one it is like, of core or meta. */
function lookUp(name, section, model) {
  return lookUpIn(name, section, model, ({ names }, local) => names.get(local));
}

/** The protobuf message of a name as `section` uses it. */
export function lookUpMessage(name, section, model) {
  return lookUpIn(name, section, model, ({ entries }, local) =>
    entries.find((entry) => isMessage(entry) && entry.goName === local),
  );
}

function lookUpIn(name, section, model, find) {
  const slash = name.lastIndexOf('/');
  const places = slash > 0 ? [name.slice(0, slash)] : searched(section);
  for (const id of places) {
    const place = model.sections.get(id);
    const entry = place === undefined ? undefined : find(place, name.slice(slash + 1));
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** Whether an entry describes a protobuf message. */
export function isMessage({ kind, hasNumbers }) {
  return hasNumbers && kind !== 'variant';
}

function searched(section) {
  return [section.id, section.like, ...FALLBACKS].filter((id) => id !== undefined);
}

function fail(message) {
  throw new Error(message);
}
