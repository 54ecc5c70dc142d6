/**
 * Base64 as tokens have it: the alphabet of URLs, without padding.
 */
import { encodeBase64 } from '../../util/base64.js';

export function encodeBase64Url(data: Uint8Array): string {
  return encodeBase64(data).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Undefined when the text is something else. Bits that stand for nothing are ignored, as the reference server does. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[-\w]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}
