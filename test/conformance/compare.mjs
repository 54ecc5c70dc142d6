/** Compares responses with recorded ones: replaces values that differ between runs by marks, then lists the differences. */

const UID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** What the server appends to `metadata.generateName`. */
const GENERATED = /[bcdfghjklmnpqrstvwxz2456789]{5}$/;

/** The responses of one scenario with marks, as recordings have them. Marks are numbered by first occurrence. */
export function normalize(responses, namespace) {
  const numbered = { uid: new Map(), rv: new Map() };
  const mark = (type, text) => {
    const marks = numbered[type];
    if (!marks.has(text)) marks.set(text, `<${type}:${marks.size + 1}>`);
    return marks.get(text);
  };
  const generated = responses.flatMap(({ body }) => generatedNames(body));
  const normalizeText = (text) =>
    generated
      .reduce((all, name) => all.replaceAll(name, name.replace(GENERATED, '<gen>')), text)
      .replaceAll(namespace, '{ns}')
      .replace(UID, (uid) => mark('uid', uid))
      .replace(TIME, '<time>');
  const normalizeEntry = (key, value, object) => {
    if (typeof value !== 'string') return normalizeValue(value);
    if (key === 'resourceVersion') {
      if (value === '' || value === '0') return value;
      // Without a uid it is the version of a list, which other requests change too.
      return 'uid' in object ? mark('rv', value) : '<rv>';
    }
    return key === 'continue' && value !== '' ? '<continue>' : normalizeText(value);
  };
  const normalizeValue = (value) => {
    if (typeof value === 'string') return normalizeText(value);
    if (Array.isArray(value)) return value.map(normalizeValue);
    if (value === null || typeof value !== 'object') return value;
    const entries = Object.entries(value);
    return Object.fromEntries(entries.map(([key, inner]) => [normalizeText(key), normalizeEntry(key, inner, value)]));
  };
  return responses.map(({ body, warning, ...rest }) => ({
    ...rest,
    body: normalizeValue(body),
    warning: warning && normalizeText(warning),
  }));
}

/** The responses with their marks numbered again, by first occurrence in the responses that are `counted`. */
export function renumber(responses, counted) {
  const numbered = { uid: new Map(), rv: new Map() };
  const again = (mark, type) => {
    const marks = numbered[type];
    if (!marks.has(mark)) marks.set(mark, `<${type}:${marks.size + 1}>`);
    return marks.get(mark);
  };
  return responses.map((response, index) =>
    counted(index) ? JSON.parse(JSON.stringify(response).replace(/<(uid|rv):\d+>/g, again)) : response,
  );
}

function generatedNames(value) {
  if (value === null || typeof value !== 'object') return [];
  const { name, generateName } = value.metadata ?? {};
  const inner = Object.values(value).flatMap(generatedNames);
  if (typeof name !== 'string' || typeof generateName !== 'string') return inner;
  // A long prefix is cut, so the name may start with only a part of it.
  const isGenerated = name.length > 5 && GENERATED.test(name) && generateName.startsWith(name.slice(0, -5));
  return isGenerated ? [name, ...inner] : inner;
}

/** The places where two values differ, except under ignored paths; a path that ends in `*` is a prefix. */
export function differences(expected, actual, ignored = [], path = '') {
  if (ignored.some((each) => (each.endsWith('*') ? path.startsWith(each.slice(0, -1)) : path === each))) return [];
  if (!isComposite(expected) || !isComposite(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    return expected === actual ? [] : [{ path, expected, actual }];
  }
  const keys = Object.keys({ ...expected, ...actual });
  return keys.flatMap((key) => differences(expected[key], actual[key], ignored, `${path}.${key}`));
}

function isComposite(value) {
  return value !== null && typeof value === 'object';
}
