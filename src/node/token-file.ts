/**
 * The file of `--token-auth-file`: comma-separated values with the columns token, user name, UID and, optionally, groups.
 * upstream: apiserver/pkg/authentication/token/tokenfile/tokenfile.go
 */
import type { TokenTable } from '../auth/authentication.js';
import type { User } from '../protocol/request.js';

/** Throws an Error for a malformed file. Empty and repeated tokens are reported to `warn`. */
export function readTokenFile(text: string, name: string, warn: (text: string) => void): TokenTable {
  const table = new Map<string, User>();
  for (const [index, record] of parseCsv(text).entries()) {
    if (record.length < 3) {
      const columns = '(token, user name, user uid)';
      throw new Error(`token file '${name}' must have at least 3 columns ${columns}, found ${record.length}`);
    }
    const [token = '', user = '', uid = '', groups] = record;
    const place = `token file '${name}', record number '${index + 1}'`;
    if (token === '') {
      warn(`empty token has been found in ${place}`);
      continue;
    }
    if (user === '') throw new Error(`a token without a user name has been found in ${place}`);
    if (table.has(token)) warn(`duplicate token has been found in ${place}`);
    table.set(token, {
      user,
      ...(uid === '' ? {} : { uid }),
      ...(groups === undefined || groups === '' ? {} : { groups: groups.split(',') }),
    });
  }
  return Object.fromEntries(table);
}

/** The records of a text, as Go's `encoding/csv` reads them. Empty lines are skipped. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let line = 1;
  // A field, and what follows it: a comma, the end of the line or the end of the text.
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  for (let at = 0; at < text.length; at = field.lastIndex) {
    field.lastIndex = at;
    const found = field.exec(text);
    if (found === null)
      throw new Error(`parse error on line ${line}: a quote is not closed or not at the start of a field`);
    const [whole, quoted, plain = '', end] = found;
    line += whole.split('\n').length - 1;
    record.push(quoted?.replaceAll('""', '"').replaceAll('\r\n', '\n') ?? plain);
    if (end === ',') {
      if (field.lastIndex === text.length) record.push('');
      else continue;
    }
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
  }
  return records;
}
